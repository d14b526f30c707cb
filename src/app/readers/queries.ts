/** Queries and board checks for the command line, on the real disk. */
import { ids } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import {
  lintFile as lint,
  runParsed,
  runQuery as run,
  streamQuery,
  type BoardProblem,
  type QueryOptions,
  type QueryReply,
  type Sources,
} from '../../adapters/boards/queries.js';
import { ProblemError, problemError } from '../../domain/problem.js';
import type { Placed, TaskState } from '../../domain/task/task.js';
import { evaluate, parseQuery, type Select } from '../../text/query/query.js';
import { compareForOrder, fieldValue } from '../../text/query/where.js';
import { taskRow } from '../../text/records/task-row.js';

export { streamQuery };
export type { QueryReply, RowStream, Sources } from '../../adapters/boards/queries.js';

export function runQuery(
  text: string,
  { root, sources }: { root: string; sources: Sources },
  options: QueryOptions = {},
): Promise<QueryReply> {
  return run(text, { root, sources, disk: disk(), ids: ids() }, options);
}

/** A query for tasks that can be asked about one task at a time. */
export interface TaskQuery {
  /** The values by which the query sorts tasks; undefined: the task does not match. */
  keysOf(placed: Placed): unknown[] | undefined;
  /** The sort values of all tasks in one of these states, by id. */
  keysOfAll(states: readonly TaskState[]): Promise<Map<string, unknown[]>>;
  compare(a: readonly unknown[], b: readonly unknown[]): number;
  limit: number;
}

/** Throws a ProblemError if this is not a query that selects tasks. */
export function taskQuery(text: string, at: { root: string; sources: Sources }): TaskQuery {
  const parsed = parseQuery(text);
  if (!parsed.ok) throw new ProblemError(parsed.problem);
  const { query } = parsed;
  if (query.kind !== 'select' || query.from !== 'tasks' || query.count)
    throw problemError('bad_usage', 'this query does not select tasks');
  const { where, orderBy, limit = Infinity } = query;
  const order = orderBy.map(({ field }) => field);
  const all: Select = { ...query, fields: ['id', 'state', ...order], orderBy: [] };
  delete all.limit;
  return {
    limit,
    keysOf(placed) {
      const row = taskRow(placed);
      return where === undefined || evaluate(where, row) ? order.map((field) => fieldValue(row, field)) : undefined;
    },
    async keysOfAll(states) {
      const { rows } = await runParsed(all, { ...at, disk: disk(), ids: ids() });
      const wanted = rows.filter(({ state }) => states.includes(state as TaskState));
      return new Map(wanted.map((row) => [String(row['id']), order.map((field) => row[field])]));
    },
    compare(a, b) {
      for (const [n, { descending }] of orderBy.entries()) {
        const by = compareForOrder(a[n], b[n]);
        if (by !== 0) return descending ? -by : by;
      }
      return 0;
    },
  };
}

export function lintFile(file: string, root: string): BoardProblem[] {
  return lint(file, { root, disk: disk() });
}
