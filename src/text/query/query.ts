/**
 * The query language over boards, tasks, sessions, agents and events. Rows are plain objects without a schema: a field
 * that a row does not have is null. Whatever does not parse is a problem with a caret and no query at all, so that no
 * mistyped condition can ever hold for every row.
 */
import type { OrderBy, Row, Select } from './form.js';
import { compareForOrder, evaluate, fieldValue } from './where.js';

export type * from './form.js';
export { parseQuery } from './parse.js';
export { evaluate } from './where.js';

/** The rows in order, cut to the limit and to the fields; for `COUNT(*)` the one row `{count}`. */
export function select(query: Select, rows: Iterable<Row>): Row[] {
  const { where, orderBy, fields, limit } = query;
  let found: Row[] = [];
  for (const row of rows) {
    if (!where || evaluate(where, row)) found.push(row);
    // Without an order the first rows are as good as any.
    if (limit !== undefined && !query.count && orderBy.length === 0 && found.length >= limit) break;
  }
  if (query.count) return [{ count: found.length }].slice(0, limit);
  if (orderBy.length > 0) found.sort((a, b) => compareRows(a, b, orderBy));
  if (limit !== undefined) found = found.slice(0, limit);
  return fields ? found.map((row) => pick(row, fields)) : found;
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
