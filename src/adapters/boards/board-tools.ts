/**
 * Board access for agents: read-only queries, and bullet changes under stricter rules than
 * people's. An agent cannot answer approvals, close a person's bullet, or change a task that
 * another agent is working on. Each refusal says what to do instead.
 */
import path from 'node:path';
import { visible } from '../../domain/coordination/mail.js';
import { asProblem, problem, type Problem } from '../../domain/problem.js';
import { taintIn } from '../../domain/task/taint.js';
import { HUMAN } from '../../domain/task/task.js';
import type { Ids } from '../../ports/clock.js';
import type { BoardChange, BoardTools } from '../../ports/board-tools.js';
import type { Disk } from '../../ports/disk.js';
import type { Store } from '../../ports/store/index.js';
import { fieldOf, itemKey, parseBoard, type Item } from '../../text/board/parse.js';
import { INFLUENCED_BY, influences, influencesOf } from '../../text/board/influences.js';
import { taskId } from '../../text/board/tasks.js';
import type { Select } from '../../text/query/ast.js';
import { parseQuery, type Assignment } from '../../text/query/query.js';
import { runParsed, type Sources } from './queries.js';

interface BoardToolsOptions {
  root: string;
  disk: Disk;
  ids: Ids;
  store: Store;
  sources: Sources;
}

const BALLOT = 'tasks/approvals.task.md';
const MAX_BYTES = 16 * 1024 * 1024;

export function boardTools(options: BoardToolsOptions): BoardTools {
  return {
    async select(text) {
      const parsed = parseQuery(text);
      if (!parsed.ok) return parsed.problem;
      const { query } = parsed;
      if (query.kind !== 'select' || query.into !== undefined)
        return refuse(
          'query_tasks is read-only',
          'use SELECT without INTO; update_task changes a bullet, create_task creates a task',
        );
      if (!/^(tasks|sessions|agents|events|tasks\/[^/]+\.task\.md)$/.test(query.from))
        return refuse(
          `unknown source ${query.from}`,
          'use tasks, sessions, agents, events, or a board like tasks/plan.task.md',
        );
      try {
        const { rows, problems } = await runParsed(query, options);
        const leftOut = problems.filter(({ severity }) => severity === 'error').length;
        return { rows, leftOut, taint: await taintOfRows(options, query) };
      } catch (thrown) {
        return asProblem(thrown);
      }
    },
    async change(by, id, change, taint) {
      const bullet = findBullet(options, id);
      if (bullet === undefined)
        return problem('not_found', `no bullet in tasks/ has the id ${id}`, { hint: FIND_HINT });
      const refusal = (await refusalFor(options, bullet, by, change)) ?? invalidField(change);
      if (refusal) return refusal;
      const set = assignments(bullet.item, change, by, taint);
      const where = { kind: 'compare', field: 'id', op: '=', value: itemKey(bullet.item) } as const;
      try {
        await runParsed({ kind: 'update', from: bullet.file, set, where }, options);
      } catch (thrown) {
        return asProblem(thrown);
      }
      const now = change.status === undefined ? 'is changed' : `is now ${change.status.replace('_', ' ')}`;
      return `${bullet.file}: ${JSON.stringify(bullet.item.title)} ${now}`;
    },
  };
}

/** The column that leads to a task, or to what influenced a bullet. */
const ORIGINS: Record<string, string> = { tasks: 'id', sessions: 'task', events: 'task' };
const MAX_ORIGINS = 500;

/** Rows may show text of any task, so they pass their taint on to whoever reads them. */
async function taintOfRows(options: BoardToolsOptions, query: Select): Promise<string[]> {
  if (query.count || query.from === 'agents') return [];
  const column = ORIGINS[query.from] ?? INFLUENCED_BY;
  const limit = Math.min(query.limit ?? MAX_ORIGINS, MAX_ORIGINS);
  const { fields: _, ...whole } = query;
  // Selecting a column that no bullet of the board has would fail, so all columns are read.
  const asked = column === INFLUENCED_BY ? whole : { ...query, fields: [column] };
  const { rows } = await runParsed({ ...asked, limit }, options);
  const values = [...new Set(rows.flatMap((row) => (typeof row[column] === 'string' ? [row[column]] : [])))];
  if (column === INFLUENCED_BY) return [...new Set(values.flatMap(influences))];
  const placed = await Promise.all(values.map((id) => options.store.tasks.read(id)));
  return [...new Set(placed.flatMap((each) => (each === undefined ? [] : taintIn(each.task))))];
}

const FIND_HINT =
  'find ids with query_tasks, for example SELECT id, title FROM tasks/plan.task.md; only its own agent can change a running task: use send_message';

interface Bullet {
  file: string;
  item: Item;
}

function findBullet({ root, disk }: BoardToolsOptions, id: string): Bullet | undefined {
  const names = disk
    .list(path.join(root, 'tasks'))
    .filter((name) => name.endsWith('.task.md') && !name.startsWith('.'));
  for (const name of names.sort()) {
    const file = `tasks/${name}`;
    const read = disk.read(path.join(root, file), MAX_BYTES);
    if (read.kind !== 'file') continue;
    const items = parseBoard(read.bytes.toString('utf8'), file).items;
    const item = items.find((candidate) => {
      return candidate.inTodo && (itemKey(candidate) === id || taskId(file, candidate) === id);
    });
    if (item) return { file, item };
  }
  return undefined;
}

async function refusalFor(
  { store }: BoardToolsOptions,
  { file, item }: Bullet,
  by: string,
  change: BoardChange,
): Promise<Problem | undefined> {
  if (file === BALLOT || item.tags.includes('approval'))
    return refuse(
      'only the human can answer approvals',
      'continue with work that needs no approval, or say in your answer what you are waiting for',
    );
  if (change.status !== undefined && item.stakeholders.includes(HUMAN))
    return refuse(
      `${JSON.stringify(item.title)} is assigned to the human`,
      'tell the human in your answer, or add a note to it',
    );
  const id = taskId(file, item);
  const placed = await store.tasks.read(id);
  const isRunning = placed !== undefined && (placed.state === 'active' || placed.state === 'waiting');
  const assignee = placed?.task.to ?? placed?.owner?.agent;
  if (isRunning && assignee !== by)
    return refuse(
      `${assignee ?? 'another agent'} is working on ${id}`,
      `use send_message to tell ${assignee ?? 'it'} what should change`,
    );
  return undefined;
}

/** Keys that identify a bullet or are written by the program. */
const NOT_FIELDS = new Set(
  'id title parent line priority completed completed_at skipped in_progress failed_at error failure updated_by influenced_by schedule timezone missed'.split(
    ' ',
  ),
);

function invalidField({ fields }: BoardChange): Problem | undefined {
  const bad = Object.keys(fields ?? {}).find((key) => NOT_FIELDS.has(key));
  if (bad)
    return problem('bad_field', `${bad} cannot be set through fields`, {
      hint: 'use status, note or priority, or choose another key',
    });
  if (Object.hasOwn(fields ?? {}, 'approval_required'))
    return refuse('only a person can change approval_required', 'say in your answer what should be approved');
  if (String(fields?.['tags'] ?? '').includes('approval'))
    return refuse('a bullet cannot be made an approval', 'call the tool that needs approval; it asks the human itself');
  return undefined;
}

function assignments(
  item: Item,
  { status, note, priority, fields }: BoardChange,
  by: string,
  taint: readonly string[],
): Assignment[] {
  const set: Assignment[] = [];
  if (status === 'open') for (const field of ['completed', 'skipped', 'in_progress']) set.push({ field, value: false });
  else if (status !== undefined) set.push({ field: status === 'failed' ? 'skipped' : status, value: true });
  if (priority !== undefined) set.push({ field: 'priority', value: priority });
  for (const [field, value] of Object.entries(fields ?? {}))
    set.push({ field, value: typeof value === 'string' ? visible(value) : value });
  if (note !== undefined && fields?.['note'] === undefined) set.push({ field: 'note', value: withNote(item, note) });
  set.push({ field: 'updated_by', value: by });
  const influenced = new Set([...influencesOf(item), ...taint]);
  if (influenced.size > 0) set.push({ field: INFLUENCED_BY, value: [...influenced].join(', ') });
  return set;
}

/** Appends the note to the existing ones, unless it is already the last. */
function withNote(item: Item, note: string): string {
  const text = visible(note).trim();
  const old = String(fieldOf(item, 'note')?.value ?? '').trimEnd();
  if (old === '' || old === text || old.endsWith(`\n${text}`)) return old === '' ? text : old;
  return `${old}\n${text}`;
}

function refuse(message: string, hint: string): Problem {
  return problem('not_allowed', message, { hint });
}
