/** The list of tasks: a query of the query language, answered in ranges of rows. */
import { querySources } from '../../app/readers/query-sources.js';
import { runQuery } from '../../app/readers/queries.js';
import { problem, ProblemError } from '../../domain/problem.js';
import type { TaskState } from '../../domain/task/task.js';
import { summary } from '../../views/summary.js';
import type { Row } from '../base/contract.js';
import { shortOf, titleOf } from './rows.js';

const COLUMNS = 'id, state, role, type, description, result, to, parent, error, created_at, ended_at, usage, own_usage';

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
  };
}
