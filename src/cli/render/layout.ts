/** Text laid out in columns and lines of a given width. It may contain our colours. */
import { columnsOf, cutTo } from './columns.js';
import { bare, printable, sign, SIGNS } from './paint.js';

/** On one line, with single blanks, cut to the width with an ellipsis. */
export function oneLine(text: string, width: number): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return columnsOf(line) <= width ? line : `${cutTo(line, Math.max(1, width - 1))}…`;
}

/**
 * A table no wider than `width`. Columns are as wide as their widest cell; if that does not fit,
 * the widest shrink first, and the last one takes the rest. Columns in `uncut` are never cut.
 */
export function table(rows: string[][], width: number, uncut: readonly number[] = []): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, c) =>
    rows.reduce((max, row) => Math.max(max, shownColumns(row[c] ?? '')), 0),
  );
  const wanted = Math.min(widths.at(-1) ?? 0, LAST_CELL);
  const room = (): number => width - widths.slice(0, -1).reduce((sum, column) => sum + column + 2, 0);
  while (room() < wanted) {
    const widest = widths
      .slice(0, -1)
      .reduce((best, column, c) => (!uncut.includes(c) && column > widths[best]! ? c : best), 0);
    if (uncut.includes(widest) || widths[widest]! <= LEAST_CELL) break;
    widths[widest]! -= 1;
  }
  widths[columns - 1] = Math.max(LEAST_CELL, room());
  return rows.map((row) => {
    const cells = row.map((cell, c) => {
      const shown = fitted(cell, widths[c]!);
      return c < columns - 1 ? shown + ' '.repeat(widths[c]! - shownColumns(shown)) : shown;
    });
    return cells.join('  ').trimEnd();
  });
}

const LEAST_CELL = 8;
const LAST_CELL = 30;

/**
 * A table with ids, which must not be cut. If the last column is in `uncut`, its text continues
 * below itself. If the other columns leave no room for it, each row is wrapped as one text. Returns
 * the lines of each row.
 */
export function tableRows(rows: string[][], width: number, uncut: readonly number[]): string[][] {
  const last = (rows[0]?.length ?? 1) - 1;
  const widths = Array.from({ length: last }, (_, c) =>
    rows.reduce((max, row) => Math.max(max, shownColumns(row[c] ?? '')), 0),
  );
  const left = widths.reduce((sum, column, c) => (uncut.includes(c) ? sum + column + 2 : sum), 0);
  const wanted = rows.reduce((max, row) => Math.max(max, shownColumns(row[last] ?? '')), 0);
  if (left + Math.min(wanted, LEAST_LAST) > width)
    return rows.map((row) => wrapped(row.filter((cell) => shownColumns(cell) > 0).join('  '), width));
  if (!uncut.includes(last)) return table(rows, width, uncut).map((line) => [line]);
  return rows.map((row) => {
    const cells = row.map((cell, c) => (c < last ? cell + ' '.repeat(widths[c]! - shownColumns(cell)) : cell));
    return wrapped(cells.join('  '), width, ' '.repeat(left)).map((line) => line.trimEnd());
  });
}

/** Enough for the first words of a sentence. */
const LEAST_LAST = 16;

/** Wrapped at blanks. Continuation lines are indented, unless a word needs the whole width. */
export function wrapped(text: string, width: number, indent = '  '): string[] {
  const lines: string[] = [];
  let line = '';
  for (const [, blanks = '', word = ''] of unbroken(text).matchAll(/( *)([^ ]+)/g)) {
    if (line === '' || columnsOf(printable(bare(`${line}${blanks}${word}`))) <= width) {
      line += lines.length === 0 || line !== '' ? blanks + word : word;
      continue;
    }
    lines.push(line);
    line = ([indent, '  '].find((set) => columnsOf(printable(bare(set + word))) <= width) ?? '') + word;
  }
  return [...lines, line];
}

/**
 * Each line of a message wrapped. A line that starts with blanks or a mark continues two columns
 * further in.
 */
export function wrappedLines(text: string, width: number): string[] {
  if (width === Infinity) return [text];
  return text.split('\n').flatMap((line) => {
    const plain = bare(line);
    const indent = /^ */.exec(plain)![0] + (/^[\p{L}\p{N}“"]/u.test(plain) ? '' : '  ');
    return plain.trim() === '' ? [line] : wrapped(line, width, indent);
  });
}

/** Cut to the width, with an ellipsis. Blanks are kept: they may draw a tree. */
export function fitted(cell: string, width: number): string {
  let left = width;
  const long = columnsOf(printable(unbroken(bare(cell)))) > width;
  return cell
    .split(SIGNS)
    .map((part, i) => {
      if (i % 2 === 1) return sign(Number(part));
      const text = printable(unbroken(part));
      const room = long ? Math.max(0, left - 1) : left;
      const cut = columnsOf(text) > room;
      const shown = cut ? cutTo(text, room) + (left > 0 ? '…' : '') : text;
      left = cut ? 0 : left - columnsOf(text);
      return shown;
    })
    .join('');
}

/** Line breaks, and the blanks around them, become one blank. */
function unbroken(text: string): string {
  return text.replace(/ *[^\S ]\s*/g, ' ');
}

function shownColumns(cell: string): number {
  return columnsOf(bare(cell));
}
