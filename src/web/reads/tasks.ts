/** The list of tasks: a query of the query language, answered in ranges of rows. */
import { querySources } from '../../app/readers/query-sources.js';
import { runQuery } from '../../app/readers/queries.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { compareText } from '../../domain/order.js';
import { HUMAN, isEnded, type TaskState } from '../../domain/task/task.js';
import { summary } from '../../views/summary.js';
import type { Row, TaskBoard } from '../base/contract.js';
import { shortOf, titleOf } from './rows.js';

const COLUMNS =
  'id, state, role, type, description, result, to, parent, error, created_at, ended_at, usage, own_usage, context.taint';

/** All matching tasks, in order. `where`: what follows WHERE, or empty. */
export async function queryTasks(root: string, where: string): Promise<Row[]> {
  if (/\binto\b/i.test(where.replace(/'[^']*'|"[^"]*"/g, '')))
    throw new ProblemError(
      problem('bad_usage', 'this page only reads: INTO writes a file', { hint: 'use guild query' }),
    );
  const clause = where.trim() === '' ? '' : /^order\s+by\b/i.test(where.trim()) ? where : `WHERE ${where}`;
  const order = /\border\s+by\b/i.test(clause) ? '' : ' ORDER BY created_at DESC';
  const { rows } = await runQuery(`SELECT ${COLUMNS} FROM tasks ${clause}${order}`, {
    root,
    sources: querySources(root),
  });
  return rows.map(rowFrom);
}

/** Parents before their children, whole trees in the order of the list. */
export function asTree(rows: readonly Row[]): Row[] {
  const known = new Set(rows.map(({ id }) => id));
  const below = new Map<string, Row[]>();
  for (const row of rows) {
    const parent = row.parent !== undefined && known.has(row.parent) ? row.parent : '';
    const list = below.get(parent);
    if (list === undefined) below.set(parent, [row]);
    else list.push(row);
  }
  const ordered: Row[] = [];
  const open = (below.get('') ?? []).map((row) => ({ row, depth: 0 })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { row, depth } = next;
    ordered.push({ ...row, depth });
    const children = [...(below.get(row.id) ?? [])].sort((a, b) => compareText(b.createdAt, a.createdAt));
    open.push(...children.map((child) => ({ row: child, depth: depth + 1 })));
  }
  // Parent links are user-editable: tasks in a cycle have no root, and are still shown.
  const shown = new Set(ordered.map(({ id }) => id));
  return [...ordered, ...rows.filter(({ id }) => !shown.has(id))];
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

function rowFrom(row: Record<string, unknown>): Row {
  const text = (key: string): string | undefined => (typeof row[key] === 'string' ? row[key] : undefined);
  const usage = (row['usage'] ?? row['own_usage']) as Record<string, number> | undefined;
  const amount = (camel: string, snake: string): number => usage?.[camel] ?? usage?.[snake] ?? 0;
  const id = String(row['id']);
  const error = row['error'] as { code?: string } | undefined;
  const role = text('role') ?? 'root';
  const optional = (key: keyof Row, value: string | undefined): Partial<Row> =>
    value === undefined ? {} : { [key]: value };
  return {
    id,
    short: shortOf(id),
    title: titleOf(
      summary({ role, type: text('type'), description: text('description') ?? '', result: text('result') }),
    ),
    ...optional('agent', text('to')),
    role,
    state: row['state'] as TaskState,
    ...optional('code', error?.code),
    ...optional('parent', text('parent')),
    createdAt: text('created_at') ?? '',
    ...optional('endedAt', text('ended_at')),
    tokens: amount('inputTokens', 'input_tokens') + amount('outputTokens', 'output_tokens'),
    microUsd: amount('microUsd', 'micro_usd'),
    ...(Array.isArray(row['context.taint']) ? { taint: row['context.taint'].map(String) } : {}),
  };
}
