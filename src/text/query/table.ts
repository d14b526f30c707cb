/**
 * The source of a SELECT. It returns only the columns that are asked for, so that a source with
 * very many rows need not read them in full.
 */
import type { Row, Select } from './ast.js';
import { fieldsOf } from './where.js';

export interface Table {
  readonly size: number;
  /** The keys of all rows, in the order in which rows first have them. */
  columns(): string[];
  /** The rows in order. Each has the wanted keys that it knows, and perhaps others. */
  rows(keys: readonly string[]): Iterable<TableRow>;
}

export interface TableRow {
  row: Row;
  /** The row with all its keys; undefined if it no longer exists. */
  read(): Row | undefined;
}

export function tableOf(rows: readonly Row[]): Table {
  return {
    size: rows.length,
    columns: () => [...new Set(rows.flatMap((row) => Object.keys(row)))],
    *rows() {
      for (const row of rows) yield { row, read: () => row };
    },
  };
}

/** The rows of `first`, followed by the rows of `second`. */
export function joinedTables(first: Table, second: Table): Table {
  return {
    size: first.size + second.size,
    columns: () => [...new Set([...first.columns(), ...second.columns()])],
    *rows(keys) {
      yield* first.rows(keys);
      yield* second.rows(keys);
    },
  };
}

export function keysOf({ fields = [], where, orderBy }: Select): string[] {
  const named = [...fields, ...fieldsOf(where), ...orderBy.map(({ field }) => field)];
  return [...new Set(named.flatMap(keysOfField))];
}

/** `a.b` is a key of this name, or `b` inside `a`. */
export function keysOfField(field: string): string[] {
  return field.includes('.') ? [field, field.split('.')[0]!] : [field];
}
