/**
 * Derives tasks from parsed boards: which bullets are tasks, which belong to the person, and what
 * each task would be. Nested bullets come before their parent. A bullet that depends on a person's
 * bullet or on an invalid bullet is blocked until that bullet is closed or fixed.
 */
import { defined } from '../../domain/defined.js';
import type { BoardBullet, BoardWish } from '../../domain/task/board.js';
import { hash53, isSafeId, safePart } from '../../domain/task/id.js';
import { noAgent } from '../../domain/nearest.js';
import { problem, type Problem } from '../../domain/problem.js';
import { cronFault, zoneFault, type Schedule } from '../../domain/schedule.js';
import { HUMAN, PROGRAM_KEYS, rootRole, type Task } from '../../domain/task/task.js';
import { influencesOf } from './influences.js';
import { fieldOf, itemKey, type Board, type Field, type Item } from './item.js';
import { whereAt, whereOnLine } from '../lines/where.js';

export interface Sheet {
  board: Board;
  text: string;
}

/** A bullet of a TODO section and its task. */
interface Listed {
  id: string;
  item: Item;
  board: Board;
  bullet: BoardBullet;
}

export interface BoardTasks {
  /** By task id; without the person's own bullets. */
  listed: Map<string, Listed>;
  wanted: BoardWish[];
  /** Without the problems of the boards themselves. */
  problems: Problem[];
}

export function boardTasks(sheets: readonly Sheet[], agents: ReadonlySet<string>): BoardTasks {
  const all = new Map<Item, Entry>();
  const named = new Map<string, Entry>();
  const problems: Problem[] = [];
  for (const sheet of sheets) for (const entry of entriesOf(sheet, agents)) add(entry);
  for (const entry of all.values()) connect(entry);
  const blocked = blockedEntries(all.values());
  const wanted: BoardWish[] = [];
  const listed = new Map<string, Listed>();
  for (const entry of all.values()) {
    if (entry.kind === 'own') continue;
    if (!listed.has(entry.id))
      listed.set(entry.id, { id: entry.id, item: entry.item, board: entry.sheet.board, bullet: bulletOf(entry.item) });
    if (entry.kind === 'task' && entry.item.box === 'open' && !blocked.has(entry)) wanted.push(wishOf(entry));
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
      entry.problem = entryProblem(
        entry,
        'duplicate',
        `the id ${id} is already used in ${other.sheet.board.file}:${other.item.line}`,
        'give one of them another id',
      );
    }
  }

  function connect(entry: Entry): void {
    const { item } = entry;
    const parentItem = item.parent ?? named.get(String(fieldOf(item, 'parent')?.value ?? ''))?.item;
    const parent = parentItem === undefined || parentItem === item ? undefined : all.get(parentItem);
    if (parent !== undefined && (entry.schedule ?? parent.schedule) !== undefined) {
      entry.kind = 'held';
      const message = `a bullet with a schedule cannot ${entry.schedule ? 'be nested' : 'have bullets under it'}`;
      entry.problem = entryProblem(entry, 'bad_field', message, 'move one of them to the top level');
    }
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
        entry.problem = entryProblem(
          entry,
          'bad_field',
          `it depends on ${JSON.stringify(name)}, which is not a valid task id`,
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
  /** own: for the person · held: it cannot become a task as it is. */
  kind: 'task' | 'own' | 'held';
  to?: string;
  parent?: Entry;
  /** Bullets that must be closed first: its dependencies and those nested under it. */
  needs: Entry[];
  neededBy: Entry[];
  /** Ids it depends on that no board has. */
  others: string[];
  schedule?: Schedule;
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
    const agent = item.stakeholders.find((name) => agents.has(name));
    if (agent !== undefined) entry.to = agent;
    if (item.bad) entry.kind = 'held';
    else if (item.tags.includes('approval')) entry.kind = 'own';
    else if (agent === undefined && item.stakeholders.includes(HUMAN)) entry.kind = 'own';
    else if (agent === undefined && item.stakeholders.length > 0) {
      entry.kind = 'held';
      entry.problem = entryProblem(
        entry,
        'unknown_agent',
        noAgent(item.stakeholders[0]!, agents),
        'fix the name, or create the agent',
      );
    }
    readSchedule(entry);
    yield entry;
  }
}

/** `schedule: "0 9 * * 1"`, with `timezone` and `missed` next to it. */
function readSchedule(entry: Entry): void {
  const { item, sheet } = entry;
  const field = fieldOf(item, 'schedule');
  if (field === undefined || entry.kind === 'own') return;
  const [timezone, missed] = [fieldOf(item, 'timezone'), fieldOf(item, 'missed')];
  const hold = ({ valueSpan }: Field, message: string): void => {
    const where = whereAt(sheet.board.file, sheet.text, valueSpan.start);
    entry.kind = 'held';
    entry.problem = problem('bad_field', message, { where, hint: 'write it as in schedule: "0 9 * * 1"' });
  };
  const cron = String(field.value);
  const zone = timezone && String(timezone.value);
  const fault = cronFault(cron);
  const wrongZone = zone === undefined ? undefined : zoneFault(zone);
  if (fault !== undefined) hold(field, fault);
  else if (wrongZone !== undefined) hold(timezone!, wrongZone);
  else if (missed !== undefined && !MISSED.has(missed.value)) hold(missed, '"missed" must be report or once');
  entry.schedule = defined<Schedule>({
    cron,
    timezone: zone || undefined,
    missed: missed?.value === 'once' ? 'once' : undefined,
  });
}

const MISSED = new Set<unknown>(['report', 'once']);

/**
 * The id in the file, unless it is not valid or has a dot, which would make it look like a child's
 * id. Otherwise an id derived from the file and the bullet, the same on every reading.
 */
export function taskId(file: string, item: Item): string {
  const { id } = item;
  if (id !== undefined && isSafeId(id) && !id.includes('.')) return id;
  const base = file.slice(file.lastIndexOf('/') + 1).replace(/\.task\.md$/, '');
  const derived = `board-${safePart(base)}-${id === undefined ? itemKey(item) : safePart(id)}`;
  return isSafeId(derived) ? derived : `board-${hash53(derived)}`;
}

function bulletOf(item: Item): BoardBullet {
  const { box } = item;
  const showsFailure = fieldOf(item, 'failed_at') !== undefined;
  const showsCompletion = fieldOf(item, 'completed_at') !== undefined;
  const closedByHand = (box === 'done' && !showsCompletion) || (box === 'skipped' && !showsFailure);
  return { box, hasId: item.id !== undefined, closedByHand, showsFailure, showsCompletion };
}

/**
 * Bullets that wait for an open bullet that is not a task. The engine reports cycles among tasks.
 */
function blockedEntries(entries: Iterable<Entry>): Set<Entry> {
  const blocked = new Set<Entry>();
  const queue = [...entries].filter((entry) => entry.kind !== 'task' && !isClosed(entry));
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const dependent of at.neededBy) {
      if (blocked.has(dependent) || isClosed(dependent)) continue;
      blocked.add(dependent);
      queue.push(dependent);
    }
  }
  return blocked;
}

function isClosed({ item }: Entry): boolean {
  return item.box === 'done' || item.box === 'skipped';
}

function wishOf(entry: Entry): BoardWish {
  const { item, sheet } = entry;
  const chain = ancestry(entry);
  const parent = chain[0];
  const top = chain.at(-1);
  // A bullet that a person closed is no longer a dependency. A bullet that the program closed has a
  // record.
  const needs = entry.needs.filter(({ item: needed }) => !bulletOf(needed).closedByHand);
  const dependencies = [...new Set([...needs.map(({ id }) => id), ...entry.others])];
  const description = describe(item);
  const taint = new Set([item, ...chain.map((above) => above.item)].flatMap(influencesOf));
  const task: BoardWish['task'] = defined({
    id: entry.id,
    description,
    parent: parent?.id,
    root: top?.id ?? entry.id,
    depth: chain.length,
    role: parent ? 'item' : rootRole(entry.schedule),
    to: entry.to,
    requirements: namesIn(item, 'requirements'),
    dependencies,
    priority: priorityOf(item),
    schedule: entry.schedule,
    context: defined({
      original_goal: top ? describe(top.item) : description,
      ...contextOf(item),
      taint: taint.size > 0 ? [...taint] : undefined,
    }),
  });
  const { parent: _, root: __, depth: ___, ...identity } = task;
  return {
    file: sheet.board.file,
    line: item.line,
    said: hash53(JSON.stringify(identity)),
    task,
    closed: needs.filter(isClosed).map(({ id }) => id),
  };
}

/** The tasks above it, nearest first. A person's bullet, or one closed by hand, ends the chain. */
function ancestry(entry: Entry): Entry[] {
  const chain: Entry[] = [];
  for (let at = entry.parent; at && at !== entry && chain.length < MAX_CHAIN; at = at.parent) {
    if (at.kind === 'own' || bulletOf(at.item).closedByHand) break;
    chain.push(at);
  }
  return chain;
}

/** Far deeper than tasks may nest. Also stops at a cycle. */
const MAX_CHAIN = 50;

function describe(item: Item): string {
  const more = ['description', 'prompt'].flatMap((key) => {
    const value = fieldOf(item, key)?.value;
    return value === undefined || String(value).trim() === '' ? [] : [String(value).trimEnd()];
  });
  return [item.title, ...more].join('\n\n');
}

function priorityOf({ priority }: Item): Task['priority'] {
  return priority === 'A' || priority === 'B' || priority === 'D' ? priority : 'C';
}

/** Keys with a fixed meaning, on boards or in a task's context. */
const NOT_CONTEXT = new Set([
  ...PROGRAM_KEYS,
  ...`id title priority stakeholders tags description prompt depends_on dependencies parent requirements completed completed_at
  skipped in_progress failed_at schedule timezone missed influenced_by original_goal reply_to __proto__`.split(/\s+/),
]);

function contextOf(item: Item): Record<string, unknown> {
  const ours = bulletOf(item).showsFailure ? ['error', 'failure'] : [];
  const fields = item.fields.filter(({ key }) => !NOT_CONTEXT.has(key) && !ours.includes(key));
  return defined({
    tags: item.tags.length > 0 ? item.tags : undefined,
    ...Object.fromEntries(fields.map(({ key, value }) => [key, value])),
  });
}

function namesIn(item: Item, ...keys: string[]): string[] {
  return keys.flatMap((key) =>
    String(fieldOf(item, key)?.value ?? '')
      .split(/[\s,]+/)
      .map((name) => name.replace(/^\[|\]$/g, ''))
      .filter((name) => name !== ''),
  );
}

function entryProblem({ sheet, item }: Entry, code: Problem['code'], message: string, hint: string): Problem {
  const where = whereOnLine(sheet.board.file, sheet.text, item.line, item.span.start, item.bodyStart);
  return problem(code, message, { where, hint });
}
