/**
 * The query language for boards, tasks, sessions, agents and events. Rows are plain objects without
 * a schema; a missing field is null. Text that does not parse is never a query, so that a mistyped
 * condition cannot match every row.
 */
import type { OrderBy, Row, Select } from './ast.js';
import { keysOf, type Table, type TableRow } from './table.js';
import { compareForOrder, evaluate, fieldValue } from './where.js';

export type * from './ast.js';
export { parseQuery } from './parse.js';
export { joinedTables, tableOf, type Table } from './table.js';
export { canMatch, evaluate } from './where.js';

/**
 * The matching rows in order, limited and reduced to the fields; for `COUNT(*)` one row `{count}`.
 */
export function select(query: Select, table: Table): Row[] {
  const { where, orderBy, fields, limit = Infinity } = query;
  if (query.count && !where) return [{ count: table.size }].slice(0, query.limit);
  const isWhole = !fields && !query.count && orderBy.length === 0;
  const wholeRows: Row[] = [];
  let matches: TableRow[] = [];
  let count = 0;
  for (const each of table.rows(keysOf(query))) {
    if (!where || evaluate(where, each.row)) count++;
    else continue;
    // A whole row is cheapest to read now, while the table is read in order.
    const row = isWhole ? each.read() : undefined;
    if (row !== undefined) wholeRows.push(row);
    else if (!query.count && !isWhole) matches.push(each);
    // Without an order, stop at the limit.
    if (!query.count && orderBy.length === 0 && count >= limit) break;
  }
  if (query.count) return [{ count }].slice(0, query.limit);
  if (isWhole) return wholeRows.slice(0, query.limit);
  if (orderBy.length > 0) matches.sort((a, b) => compareRows(a.row, b.row, orderBy));
  matches = matches.slice(0, query.limit);
  return fields
    ? matches.map(({ row }) => pick(row, fields))
    : matches.flatMap((each): Row[] => [each.read()].filter((row) => row !== undefined));
}

function compareRows(a: Row, b: Row, orderBy: readonly OrderBy[]): number {
  for (const { field, descending } of orderBy) {
    const order = compareForOrder(fieldValue(a, field), fieldValue(b, field));
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}

export function pick(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(fields.map((field) => [field, fieldValue(row, field) ?? null]));
}
