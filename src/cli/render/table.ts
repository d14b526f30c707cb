/**
 * A table of rows, no wider than the terminal. Its columns are measured first, so that rows which
 * are read twice need not be kept.
 */
import { columnsOf } from './columns.js';
import { oneLine } from './layout.js';

type Row = Record<string, unknown>;

interface TableLayout {
  head: string[];
  lay(row: Row): string[];
}

const MIN_CELL = 8;
const MAX_CELL = 60;

export function layTable(rows: readonly Row[], width: number, named?: readonly string[]): string[] {
  const table = measuredTable(named);
  for (const row of rows) table.add(row);
  const { head, lay } = table.layout(width);
  return [...head, ...rows.flatMap(lay)];
}

/** `named`: the columns; absent: those that any row fills, in the order in which they appear. */
export function measuredTable(named?: readonly string[]): { add(row: Row): void; layout(width: number): TableLayout } {
  const widths = new Map<string, number>((named ?? []).map((column) => [column, columnsOf(column)]));
  const filled = new Set<string>();
  return {
    add(row) {
      for (const column of named ?? Object.keys(row)) {
        const cell = cellText(row[column]);
        widths.set(column, Math.max(widths.get(column) ?? columnsOf(column), columnsOf(cell)));
        if (cell !== '' && row[column] !== false) filled.add(column);
      }
    },
    layout(width) {
      const shown = named ?? [...widths.keys()].filter((column) => filled.size === 0 || filled.has(column));
      return layoutOf(
        shown,
        shown.map((column) => widths.get(column)!),
        width,
      );
    },
  };
}

/** If there are too many columns for the width, each row is printed on separate lines. */
function layoutOf(columns: readonly string[], widths: readonly number[], width: number): TableLayout {
  const fitted = fit(widths, width);
  if (!fitted) return { head: [], lay: (row) => record(row, columns, width) };
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, c) => padded(oneLine(cell, fitted[c]!), fitted[c]!))
      .join('  ')
      .trimEnd();
  return {
    head: [line(columns), line(fitted.map((w) => '-'.repeat(w)))],
    lay: (row) => [line(columns.map((column) => cellText(row[column])))],
  };
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - columnsOf(cell)));
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(cellText).join(', ');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replace(/\s+/g, ' ').trim();
}

/** Shrinks the widest columns until all fit; undefined if they would be too narrow to read. */
function fit(widths: readonly number[], width: number): number[] | undefined {
  if (width === Infinity) return [...widths];
  const fitted = widths.map((w) => Math.min(w, MAX_CELL));
  let over = fitted.reduce((sum, w) => sum + w, 0) + 2 * (fitted.length - 1) - width;
  while (over > 0) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if (fitted[widest]! <= MIN_CELL) return undefined;
    fitted[widest]! -= 1;
    over -= 1;
  }
  return fitted;
}

function record(row: Row, columns: readonly string[], width: number): string[] {
  const filled = columns.filter((column) => cellText(row[column]) !== '');
  return [...filled.map((column) => oneLine(`${column}: ${cellText(row[column])}`, width)), ''];
}
