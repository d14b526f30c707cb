/**
 * What the bullets of all boards ask for. A pure reading of parsed boards: which bullets are tasks, which are the person's
 * own, what each task would be. Nested bullets come before what they stand under; a bullet that hangs on something
 * that is no task, a person's own or one that cannot be read, is held until that is closed or mended.
 */
import type { BoardStand, BoardWish } from '../../domain/task/board.js';
import { hash53, isSafeId, safePart } from '../../domain/task/id.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN, type Task } from '../../domain/task/task.js';
import { fieldOf, itemKey, type Board, type Item } from './item.js';
import { whereOnLine } from '../lines/where.js';

/** A board and the text it was read from. */
export interface Sheet {
  board: Board;
  text: string;
}

/** A bullet of a TODO section and the task it stands for. */
interface Listed {
  id: string;
  item: Item;
  board: Board;
  stand: BoardStand;
}

export interface BoardTasks {
  /** By the id of the task; without the person's own. */
  listed: Map<string, Listed>;
  wanted: BoardWish[];
  /** Without those of the boards themselves. */
  problems: Problem[];
}

export function boardTasks(sheets: readonly Sheet[], agents: ReadonlySet<string>): BoardTasks {
  const all = new Map<Item, Entry>();
  const named = new Map<string, Entry>();
  const problems: Problem[] = [];
  for (const sheet of sheets) for (const entry of entriesOf(sheet, agents)) add(entry);
  for (const entry of all.values()) connect(entry);
  const held = heldOf(all.values());
  const wanted: BoardWish[] = [];
  const listed = new Map<string, Listed>();
  for (const entry of all.values()) {
    if (entry.kind === 'own') continue;
    if (!listed.has(entry.id))
      listed.set(entry.id, { id: entry.id, item: entry.item, board: entry.sheet.board, stand: standOf(entry.item) });
    if (entry.kind === 'task' && entry.item.box === 'open' && !held.has(entry)) wanted.push(wishOf(entry));
    if (entry.problem && entry.item.box === 'open') problems.push(entry.problem);
  }
  return { listed, wanted, problems };

  function add(entry: Entry): void {
    all.set(entry.item, entry);
    const { id } = entry.item;
    if (id === undefined || entry.item.bad) return;
    const other = named.get(id);
    if (other === undefined) named.set(id, entry);
    else if (entry.item.box === 'open') {
      entry.kind = 'held';
      entry.problem = wrong(
        entry,
        'duplicate',
        `the id ${id} also stands in ${other.sheet.board.file}:${other.item.line}`,
        'give one of them another id',
      );
    }
  }

  function connect(entry: Entry): void {
    const { item } = entry;
    const over = item.parent ?? named.get(String(fieldOf(item, 'parent')?.value ?? ''))?.item;
    const parent = over === undefined || over === item ? undefined : all.get(over);
    if (parent?.item.bad) entry.kind = entry.kind === 'own' ? 'own' : 'held';
    if (parent && !parent.item.bad) {
      entry.parent = parent;
      need(parent, entry);
    }
    for (const name of namesIn(item, 'depends_on', 'dependencies')) {
      const other = named.get(name);
      if (other) need(entry, other);
      else if (isSafeId(name)) entry.others.push(name);
      else {
        entry.kind = entry.kind === 'own' ? 'own' : 'held';
        entry.problem = wrong(
          entry,
          'bad_field',
          `it depends on ${JSON.stringify(name)}, which cannot be the id of a task`,
          'use the id of another bullet or task',
        );
      }
    }
  }
}

interface Entry {
  id: string;
  item: Item;
  sheet: Sheet;
  /** own: the person's · held: it cannot be a task as it is. */
  kind: 'task' | 'own' | 'held';
  to?: string;
  parent?: Entry;
  /** Bullets that must be closed first: those it depends on, and those under it. */
  needs: Entry[];
  neededBy: Entry[];
  /** Ids it depends on that no board has. */
  others: string[];
  problem?: Problem;
}

function need(entry: Entry, other: Entry): void {
  entry.needs.push(other);
  other.neededBy.push(entry);
}

function* entriesOf(sheet: Sheet, agents: ReadonlySet<string>): Iterable<Entry> {
  const { board } = sheet;
  for (const item of [...board.items, ...board.rejected]) {
    if (!item.inTodo) continue;
    const entry: Entry = {
      id: taskId(board.file, item),
      item,
      sheet,
      kind: 'task',
      needs: [],
      neededBy: [],
      others: [],
    };
    const known = item.stakeholders.find((name) => agents.has(name));
    if (known !== undefined) entry.to = known;
    if (item.bad) entry.kind = 'held';
    else if (item.tags.includes('approval')) entry.kind = 'own';
    else if (known === undefined && item.stakeholders.includes(HUMAN)) entry.kind = 'own';
    else if (known === undefined && item.stakeholders.length > 0) {
      const names = [...agents].sort().join(', ') || 'none';
      entry.kind = 'held';
      entry.problem = wrong(
        entry,
        'unknown_agent',
        `there is no agent ${item.stakeholders[0]}; the agents are: ${names}`,
        'correct the name, or write the agent',
      );
    }
    yield entry;
  }
}

/**
 * The id in the file if it can be one; a dot in it would make it look like part of another task. Else a name that follows
 * from the file and the bullet, the same on every reading.
 */
export function taskId(file: string, item: Item): string {
  const { id } = item;
  if (id !== undefined && isSafeId(id) && !id.includes('.')) return id;
  const base = file.slice(file.lastIndexOf('/') + 1).replace(/\.task\.md$/, '');
  const whole = `board-${safePart(base)}-${id === undefined ? itemKey(item) : safePart(id)}`;
  return isSafeId(whole) ? whole : `board-${hash53(whole)}`;
}

function standOf(item: Item): BoardStand {
  const { box } = item;
  const erred = fieldOf(item, 'failed_at') !== undefined;
  const dated = fieldOf(item, 'completed_at') !== undefined;
  const byHand = (box === 'done' && !dated) || (box === 'skipped' && !erred);
  return { box, named: item.id !== undefined, byHand, erred, dated };
}

/**
 * A bullet waits for whatever it needs to be a task, a person's own work included, and so does what needs it. Circles of tasks
 * are left to the engine, which names them.
 */
function heldOf(entries: Iterable<Entry>): Set<Entry> {
  const held = new Set<Entry>();
  const spread = [...entries].filter((entry) => entry.kind !== 'task' && !isClosed(entry));
  for (let at = spread.pop(); at !== undefined; at = spread.pop()) {
    for (const one of at.neededBy) {
      if (held.has(one) || isClosed(one)) continue;
      held.add(one);
      spread.push(one);
    }
  }
  return held;
}

function isClosed({ item }: Entry): boolean {
  return item.box === 'done' || item.box === 'skipped';
}

function wishOf(entry: Entry): BoardWish {
  const { item, sheet } = entry;
  const chain = ancestry(entry);
  const parent = chain[0];
  const top = chain.at(-1);
  // What a person closed is no condition any more; what the program closed has a record that says how it went.
  const needs = entry.needs.filter(({ item: one }) => !standOf(one).byHand);
  const dependencies = [...new Set([...needs.map(({ id }) => id), ...entry.others])];
  const description = describe(item);
  const task: BoardWish['task'] = {
    id: entry.id,
    description,
    ...(parent ? { parent: parent.id } : {}),
    root: top?.id ?? entry.id,
    depth: chain.length,
    role: parent ? 'item' : 'root',
    ...(entry.to ? { to: entry.to } : {}),
    requirements: namesIn(item, 'requirements'),
    dependencies,
    priority: priorityOf(item),
    context: { original_goal: top ? describe(top.item) : description, ...contextOf(item) },
  };
  const { parent: _, root: __, depth: ___, ...words } = task;
  return {
    file: sheet.board.file,
    line: item.line,
    said: hash53(JSON.stringify(words)),
    task,
    closed: needs.filter(isClosed).map(({ id }) => id),
  };
}

/** The tasks above it, nearest first. A person's own bullet, or one closed by hand, is no task and ends the chain. */
function ancestry(entry: Entry): Entry[] {
  const chain: Entry[] = [];
  for (let at = entry.parent; at && at !== entry && chain.length < MAX_CHAIN; at = at.parent) {
    if (at.kind === 'own' || standOf(at.item).byHand) break;
    chain.push(at);
  }
  return chain;
}

/** Far beyond what any task may be deep; what goes in a circle ends here too. */
const MAX_CHAIN = 50;

function describe(item: Item): string {
  const more = ['description', 'prompt'].flatMap((key) => {
    const said = fieldOf(item, key)?.value;
    return said === undefined || String(said).trim() === '' ? [] : [String(said).trimEnd()];
  });
  return [item.title, ...more].join('\n\n');
}

function priorityOf({ priority }: Item): Task['priority'] {
  return priority === 'A' || priority === 'B' || priority === 'D' ? priority : 'C';
}

/** Keys that say something of their own, and names that the program gives a meaning to. */
const NOT_CONTEXT = new Set(
  `id title priority stakeholders tags description prompt depends_on dependencies parent requirements completed completed_at
  skipped in_progress failed_at original_goal taint request mail reply_to received __proto__`.split(/\s+/),
);

function contextOf(item: Item): Record<string, unknown> {
  const ours = standOf(item).erred ? ['error', 'failure'] : [];
  const fields = item.fields.filter(({ key }) => !NOT_CONTEXT.has(key) && !ours.includes(key));
  return {
    ...(item.tags.length > 0 ? { tags: item.tags } : {}),
    ...Object.fromEntries(fields.map(({ key, value }) => [key, value])),
  };
}

function namesIn(item: Item, ...keys: string[]): string[] {
  return keys.flatMap((key) =>
    String(fieldOf(item, key)?.value ?? '')
      .split(/[\s,]+/)
      .map((name) => name.replace(/^\[|\]$/g, ''))
      .filter((name) => name !== ''),
  );
}

function wrong({ sheet, item }: Entry, code: Problem['code'], message: string, hint: string): Problem {
  const where = whereOnLine(sheet.board.file, sheet.text, item.line, item.span.start, item.bodyStart);
  return problem(code, message, { where, hint });
}
