/**
 * Finds columns of a query that its source does not have, so that a typo does not read as an empty
 * value.
 */
import { nearestHint } from '../../domain/nearest.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Select, Where } from './ast.js';
import { keysOfField, type Table } from './table.js';
import { fieldValue } from './where.js';

/**
 * The problem with the first unknown column of a SELECT. `defined` are the columns the source
 * always has. A column used only with `IS NULL` may be missing.
 */
export function unknownColumn(query: Select, table: Table, defined: readonly string[]): Problem | undefined {
  const named = [...(query.fields ?? []), ...comparedIn(query.where), ...query.orderBy.map(({ field }) => field)];
  const isKnown = (field: string): boolean =>
    defined.includes(field) || defined.includes(field.split('.')[0]!) || hasValue(table, field);
  const unknown = named.find((field) => !isKnown(field));
  if (unknown === undefined) return undefined;
  const columns = [...new Set([...defined, ...table.columns()])];
  return problem('bad_usage', `${query.from} has no column ${JSON.stringify(unknown)}`, {
    hint: nearestHint(unknown, columns) ?? `the columns are ${columns.join(', ')}`,
  });
}

function hasValue(table: Table, field: string): boolean {
  for (const { row } of table.rows(keysOfField(field))) if (fieldValue(row, field) !== undefined) return true;
  return false;
}

function comparedIn(where: Where | undefined): string[] {
  if (where === undefined || where.kind === 'null') return [];
  if (where.kind === 'and' || where.kind === 'or') return where.parts.flatMap(comparedIn);
  return where.kind === 'not' ? comparedIn(where.part) : [where.field];
}
