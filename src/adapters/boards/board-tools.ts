/**
 * The desk of agents: queries that only read, and changes of bullets under rules that people do not have. An agent cannot
 * answer approvals, do a person's work for them, or take another agent's running task away; it is told what to do instead.
 */
import path from 'node:path';
import { visible } from '../../domain/coordination/mail.js';
import { asProblem, problem, type Problem } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';
import type { Ids } from '../../ports/clock.js';
import type { BoardChange, BoardTools } from '../../ports/board-tools.js';
import type { Disk } from '../../ports/disk.js';
import type { Store } from '../../ports/store/index.js';
import { fieldOf, itemKey, parseBoard, type Item } from '../../text/board/parse.js';
import { taskId } from '../../text/board/tasks.js';
import { parseQuery, type Assignment } from '../../text/query/query.js';
import { runParsed, type Sources } from './queries.js';

interface DeskAt {
  root: string;
  disk: Disk;
  ids: Ids;
  store: Store;
  sources: Sources;
}

const BALLOT = 'tasks/approvals.task.md';
const MAX_BYTES = 16 * 1024 * 1024;

export function boardTools(at: DeskAt): BoardTools {
  return {
    async select(text) {
      const parsed = parseQuery(text);
      if (!parsed.ok) return parsed.problem;
      const { query } = parsed;
      if (query.kind !== 'select' || query.into !== undefined)
        return refuse(
          'query_tasks only reads',
          'use SELECT without INTO; update_task changes a bullet, create_task makes a task',
        );
      if (!/^(tasks|sessions|agents|events|tasks\/[^/]+\.task\.md)$/.test(query.from))
        return refuse(
          `${query.from} is no source`,
          'use tasks, sessions, agents, events, or a board like tasks/plan.task.md',
        );
      try {
        const { rows, problems } = await runParsed(query, at);
        return { rows, leftOut: problems.filter((one) => one.severity === 'error').length };
      } catch (thrown) {
        return asProblem(thrown);
      }
    },
    async change(by, id, change) {
      const found = find(at, id);
      if (found === undefined) return problem('not_found', `no bullet under tasks/ has the id ${id}`, { hint: HOW });
      const no = (await whyNot(at, found, by, change)) ?? flawOf(change);
      if (no) return no;
      const set = assignments(found.item, change, by);
      const where = { kind: 'compare', field: 'id', op: '=', value: itemKey(found.item) } as const;
      try {
        await runParsed({ kind: 'update', from: found.file, set, where }, at);
      } catch (thrown) {
        return asProblem(thrown);
      }
      const now = change.status === undefined ? 'is changed' : `is now ${change.status.replace('_', ' ')}`;
      return `${found.file}: ${JSON.stringify(found.item.title)} ${now}`;
    },
  };
}

const HOW =
  'find ids with query_tasks, for example SELECT id, title FROM tasks/plan.task.md; a task of another agent is changed by that agent: use send_message';

interface Found {
  file: string;
  item: Item;
}

function find({ root, disk }: DeskAt, id: string): Found | undefined {
  const names = disk
    .list(path.join(root, 'tasks'))
    .filter((name) => name.endsWith('.task.md') && !name.startsWith('.'));
  for (const name of names.sort()) {
    const file = `tasks/${name}`;
    const read = disk.read(path.join(root, file), MAX_BYTES);
    if (read.kind !== 'file') continue;
    const items = parseBoard(read.bytes.toString('utf8'), file).items;
    const item = items.find((one) => one.inTodo && (itemKey(one) === id || taskId(file, one) === id));
    if (item) return { file, item };
  }
  return undefined;
}

async function whyNot(
  { store }: DeskAt,
  { file, item }: Found,
  by: string,
  change: BoardChange,
): Promise<Problem | undefined> {
  if (file === BALLOT || item.tags.includes('approval'))
    return refuse(
      'approvals are answered by the human only',
      'go on with what needs no approval, or say in your answer what you wait for',
    );
  if (change.status !== undefined && item.stakeholders.includes(HUMAN))
    return refuse(
      `${JSON.stringify(item.title)} is the human's own`,
      'tell the human in your answer, or leave a note on it',
    );
  const id = taskId(file, item);
  const placed = await store.tasks.read(id);
  const runs = placed !== undefined && (placed.state === 'active' || placed.state === 'waiting');
  const holder = placed?.task.to ?? placed?.owner?.agent;
  if (runs && holder !== by)
    return refuse(
      `${holder ?? 'somebody'} is working on ${id}`,
      `use send_message to tell ${holder ?? 'it'} what should change`,
    );
  return undefined;
}

/** Keys that say who a bullet is, or that the program writes. */
const NOT_FIELDS = new Set(
  'id title parent line priority completed completed_at skipped in_progress failed_at error failure updated_by'.split(
    ' ',
  ),
);

function flawOf({ fields }: BoardChange): Problem | undefined {
  const bad = Object.keys(fields ?? {}).find((key) => NOT_FIELDS.has(key));
  if (bad)
    return problem('bad_field', `${bad} cannot be set through fields`, {
      hint: 'use status, note or priority, or another key',
    });
  if (String(fields?.['tags'] ?? '').includes('approval'))
    return refuse('an approval is asked for by the action that needs it', 'call the tool itself: the human is asked');
  return undefined;
}

function assignments(item: Item, { status, note, priority, fields }: BoardChange, by: string): Assignment[] {
  const set: Assignment[] = [];
  if (status === 'open') for (const field of ['completed', 'skipped', 'in_progress']) set.push({ field, value: false });
  else if (status !== undefined) set.push({ field: status === 'failed' ? 'skipped' : status, value: true });
  if (priority !== undefined) set.push({ field: 'priority', value: priority });
  for (const [field, value] of Object.entries(fields ?? {}))
    set.push({ field, value: typeof value === 'string' ? visible(value) : value });
  if (note !== undefined && fields?.['note'] === undefined) set.push({ field: 'note', value: noted(item, note) });
  set.push({ field: 'updated_by', value: by });
  return set;
}

/** What stands there stays, and the same note stands there once. */
function noted(item: Item, note: string): string {
  const said = visible(note).trim();
  const old = String(fieldOf(item, 'note')?.value ?? '').trimEnd();
  if (old === '' || old === said || old.endsWith(`\n${said}`)) return old === '' ? said : old;
  return `${old}\n${said}`;
}

function refuse(message: string, hint: string): Problem {
  return problem('not_allowed', message, { hint });
}
