/** The list of tasks: a query of the query language, answered in ranges of rows. */
import { runQuery, taskQuery, type Sources, type TaskQuery } from '../../app/readers/queries.js';
import { defined } from '../../domain/defined.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { compareText } from '../../domain/order.js';
import { readBid, type Bid } from '../../domain/task/bid.js';
import { readVerdict } from '../../domain/task/goal-verdict.js';
import { roleFacts } from '../../domain/task/role.js';
import { taintIn } from '../../domain/task/taint.js';
import { HUMAN, isEnded, type Placed, type TaskState } from '../../domain/task/task.js';
import type { Row, TaskBoard, Usage } from '../base/contract.js';
import { claimant, rowOf, rowTitle, shortOf, usageOf } from './rows.js';

const COLUMNS =
  'id, state, role, type, description, result, to, held_by, parent, error, created_at, created_by, ended_at, usage, own_usage, session, context.taint, context.forked_from';

/** A row with fields that only the server uses. */
export interface ListedTask extends Row {
  session?: string;
  /** The conversation from which its own was copied, up to this message. */
  forkedFrom?: { session: string; at: number };
  /** Its own spending, without the spending of the tasks below it. */
  own: Usage;
  bid?: Bid;
  isObjection?: boolean;
  /** A person asked for it, in these words. */
  isOwn?: boolean;
}

/** A task, as a query would give it. */
export function listedOf(placed: Placed): ListedTask {
  const { session, own_usage: own, role, result, parent, created_by: by } = placed.task;
  const taint = taintIn(placed.task);
  return defined({
    ...rowOf(placed),
    ...answerOf(role, result),
    own: usageOf(own),
    session,
    forkedFrom: forkIn(placed.task.context['forked_from']),
    taint: taint.length > 0 ? taint : undefined,
    isOwn: isOwn(by, parent),
  });
}

function forkIn(value: unknown): ListedTask['forkedFrom'] {
  const { session, at } = (value ?? {}) as Record<string, unknown>;
  return typeof session === 'string' && typeof at === 'number' ? { session, at } : undefined;
}

/** The outcome of a bid or a goal check. */
function answerOf(role: string, result = ''): Pick<ListedTask, 'bid' | 'isObjection'> {
  const { isBid, prompt } = roleFacts(role);
  if (isBid) return { bid: readBid(result) };
  return prompt === 'check' ? { isObjection: readVerdict(result)?.advances === false } : {};
}

/** The newest first. Tasks of one moment have an order as well, so that no row changes places. */
export function byNewest(a: Row, b: Row): number {
  return compareText(b.createdAt, a.createdAt) || compareText(b.id, a.id);
}

/**
 * Mail is created in the name of its source, and a part of a run by the agent that wanted it. A
 * file that a person drops names no creator, and no agent can write such a file.
 */
function isOwn(by: string | undefined = HUMAN, parent: string | undefined): true | undefined {
  return by === HUMAN && parent === undefined ? true : undefined;
}

export function rowOnly(task: ListedTask): Row {
  const { own: _, session: _session, forkedFrom: _from, bid: _bid, isObjection: _no, isOwn: _own, ...row } = task;
  return row;
}

/** All matching tasks, in order. `where`: what follows WHERE, or empty. */
export async function queryTasks(root: string, where: string, sources: Sources): Promise<ListedTask[]> {
  const text = queryOf(where);
  const order = /\border\s+by\b/i.test(text) ? '' : ' ORDER BY created_at DESC';
  const { rows } = await runQuery(`${text}${order}`, { root, sources });
  return rows.map(rowFrom);
}

/** The same query, for one task at a time. */
export function tasksQuery(root: string, where: string, sources: Sources): TaskQuery {
  try {
    return taskQuery(queryOf(where), { root, sources });
  } catch (thrown) {
    const place = thrown instanceof ProblemError ? thrown.problem.where : undefined;
    if (place?.line === undefined || !(thrown instanceof ProblemError)) throw thrown;
    throw new ProblemError({ ...thrown.problem, where: { ...place, line: place.line - 1 } });
  }
}

function queryOf(where: string): string {
  if (/\binto\b/i.test(where.replace(/'[^']*'|"[^"]*"/g, '')))
    throw new ProblemError(
      problem('bad_usage', 'this page only reads: INTO writes a file', { hint: 'use guild query' }),
    );
  const clause = where.trim() === '' ? '' : /^order\s+by\b/i.test(where.trim()) ? where : `WHERE ${where}`;
  // The clause has its own line, because an error quotes the line that the person wrote.
  return `SELECT ${COLUMNS} FROM tasks\n${clause}`;
}

/**
 * Parents before their children, whole trees in the order of the list. `order`: compares siblings;
 * the greatest comes first.
 */
export function asTree<T extends Row>(rows: readonly T[], order?: (a: T, b: T) => number): T[] {
  return treeOrder(rows, order).map(({ row, depth }) => ({ ...row, depth }));
}

/** The same, without copying each row. */
export function treeOrder<T extends Row>(
  rows: readonly T[],
  order: (a: T, b: T) => number = byNewest,
): { row: T; depth: number }[] {
  const known = new Set(rows.map(({ id }) => id));
  const roots: T[] = [];
  const below = new Map<string, T[]>();
  for (const row of rows) {
    const isRoot = row.parent === undefined || !known.has(row.parent);
    const list = isRoot ? roots : below.get(row.parent!);
    if (list === undefined) below.set(row.parent!, [row]);
    else list.push(row);
  }
  const ordered: { row: T; depth: number }[] = [];
  const open = roots.map((row) => ({ row, depth: 0 })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    ordered.push(next);
    const children = below.get(next.row.id);
    if (children === undefined) continue;
    const depth = next.depth + 1;
    for (const row of children.sort(order)) open.push({ row, depth });
  }
  if (ordered.length === rows.length) return ordered;
  // Parent links are user-editable: tasks in a cycle have no root, and are still shown.
  const shown = new Set(ordered.map(({ row }) => row.id));
  return [...ordered, ...rows.filter(({ id }) => !shown.has(id)).map((row) => ({ row, depth: row.depth ?? 0 }))];
}

const CARDS_MAX = 50;

export function asBoard(rows: readonly Row[]): TaskBoard {
  const columns = (['pending', 'active', 'waiting', 'you', 'completed', 'failed'] as const).map((state) => ({
    state,
    total: 0,
    rows: [] as Row[],
  }));
  const byState = new Map<string, (typeof columns)[number]>(columns.map((column) => [column.state, column]));
  for (const row of rows) {
    const isOpen = !isEnded(row.state);
    const column = byState.get(row.agent === HUMAN && isOpen ? 'you' : row.state)!;
    column.total++;
    if (column.rows.length < CARDS_MAX) column.rows.push(row);
  }
  return { columns };
}

function rowFrom(row: Record<string, unknown>): ListedTask {
  const text = (key: string): string | undefined => (typeof row[key] === 'string' ? row[key] : undefined);
  const own = usageFrom(row['own_usage']);
  const usage = row['usage'] === undefined ? own : usageFrom(row['usage']);
  const id = String(row['id']);
  const error = row['error'] as { code?: string } | undefined;
  const role = text('role') ?? 'root';
  const taint = row['context.taint'];
  return {
    id,
    short: shortOf(id),
    title: rowTitle({ role, type: text('type'), description: text('description') ?? '', result: text('result') }),
    agent: text('to') ?? claimant(text('held_by')),
    role,
    state: row['state'] as TaskState,
    code: error?.code,
    parent: text('parent'),
    createdAt: text('created_at') ?? '',
    endedAt: text('ended_at'),
    tokens: usage.inputTokens + usage.outputTokens,
    microUsd: usage.microUsd,
    own,
    session: text('session'),
    ...defined({ forkedFrom: forkIn(row['context.forked_from']) }),
    ...answerOf(role, text('result')),
    taint: Array.isArray(taint) ? taint.map(String) : undefined,
    isOwn: isOwn(text('created_by'), text('parent')),
  };
}

function usageFrom(value: unknown): Usage {
  const usage = (value ?? {}) as Record<string, number>;
  return {
    turns: usage['turns'] ?? 0,
    toolCalls: usage['tool_calls'] ?? 0,
    inputTokens: usage['input_tokens'] ?? 0,
    outputTokens: usage['output_tokens'] ?? 0,
    cachedTokens: usage['cached_tokens'] ?? 0,
    microUsd: usage['micro_usd'] ?? 0,
  };
}
