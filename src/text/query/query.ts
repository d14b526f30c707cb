/**
 * The query language for boards, tasks, sessions, agents and events. Rows are plain objects without
 * a schema; a missing field is null. Text that does not parse is never a query, so that a mistyped
 * condition cannot match every row.
 */
import type { OrderBy, Row, Select } from './ast.js';
import { compareForOrder, evaluate, fieldValue } from './where.js';

export type * from './ast.js';
export { parseQuery } from './parse.js';
export { evaluate } from './where.js';

/**
 * The matching rows in order, limited and reduced to the fields; for `COUNT(*)` one row `{count}`.
 */
export function select(query: Select, rows: Iterable<Row>): Row[] {
  const { where, orderBy, fields, limit } = query;
  let matches: Row[] = [];
  for (const row of rows) {
    if (!where || evaluate(where, row)) matches.push(row);
    // Without an order, stop at the limit.
    if (limit !== undefined && !query.count && orderBy.length === 0 && matches.length >= limit) break;
  }
  if (query.count) return [{ count: matches.length }].slice(0, limit);
  if (orderBy.length > 0) matches.sort((a, b) => compareRows(a, b, orderBy));
  if (limit !== undefined) matches = matches.slice(0, limit);
  return fields ? matches.map((row) => pick(row, fields)) : matches;
}

function compareRows(a: Row, b: Row, orderBy: readonly OrderBy[]): number {
  for (const { field, descending } of orderBy) {
    const order = compareForOrder(fieldValue(a, field), fieldValue(b, field));
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}

function pick(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(fields.map((field) => [field, fieldValue(row, field) ?? null]));
}
