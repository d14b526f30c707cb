/**
 * What is printed and where. Results go to standard output, everything else to standard error, so that a pipe gets only
 * results. Text that came from models and files is shown without its control characters: it cannot drive the terminal.
 * Our own colours are marked with a number nobody else can know, and become real only at the moment of writing.
 */
import { problemText, type Problem } from '../../domain/problem.js';
import type { Io } from '../process/io.js';
import { columnsOf, cutTo } from './columns.js';

export interface Terminal {
  /** A result, for people or as it is. */
  out(line: string): void;
  /** A result for programs. */
  json(value: unknown): void;
  /** Said to people; nothing with --quiet. */
  say(line: string): void;
  /** Replaces what was drawn before: goes `up` lines back, clears what is below, and writes these. Only where `live`. */
  draw(up: number, lines: string[]): void;
  /** The whole screen, these lines from the top; undefined gives back what was there before. Only where `live`. */
  screen(lines: string[] | undefined): void;
  problem(problem: Problem, severity?: 'error' | 'warning'): void;
  /** Streams text as it comes, without a newline. */
  stream(text: string): void;
  /** Lines can be drawn again in place. */
  live: boolean;
  /** Of the terminal; in a pipe nothing is cut. */
  width: number;
  height: number;
  dim(text: string): string;
  bold(text: string): string;
  colour(name: 'green' | 'red' | 'yellow' | 'cyan' | 'magenta', text: string): string;
}

export function terminal(io: Io, { quiet = false, json = false } = {}): Terminal {
  const { stdout, stderr, env } = io;
  const canDraw = env['TERM'] !== 'dumb' && stdout.isTTY === true && stderr.isTTY === true;
  const colours = canDraw && (env['NO_COLOR'] ?? '') === '';
  const style = (name: keyof typeof CODES, text: string): string =>
    colours ? `${sign(CODES[name][0])}${text}${sign(CODES[name][1])}` : text;
  let onScreen = false;
  return {
    live: canDraw && !quiet && !json,
    get width() {
      return stdout.isTTY ? Math.max(20, stdout.columns || 80) : Infinity;
    },
    get height() {
      return stdout.rows || 24;
    },
    out: (line) => void stdout.write(`${painted(line)}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    say: (line) => void (quiet || json || stderr.write(`${painted(line)}\n`)),
    draw(up, lines) {
      const back = up > 0 ? `\u001b[${up}A\u001b[0J` : '';
      const text = lines.map((line) => `${painted(line)}\n`).join('');
      // Lines are not wrapped meanwhile: each must take one row, whatever the width of its characters.
      stderr.write(`${back}\u001b[?7l${text}\u001b[?7h`);
    },
    screen(lines) {
      if (lines === undefined) {
        if (onScreen) stdout.write('\u001b[?7h\u001b[?25h\u001b[?1049l');
        onScreen = false;
        return;
      }
      if (!onScreen) stdout.write('\u001b[?1049h\u001b[?25l\u001b[?7l');
      onScreen = true;
      const text = lines.slice(0, stdout.rows || 24).map((line) => `\u001b[2K${painted(line)}`);
      stdout.write(`\u001b[H${text.join('\r\n')}\u001b[0J`);
    },
    problem(problem, severity = 'error') {
      const mark = severity === 'error' ? style('red', 'problem') : style('yellow', 'warning');
      stderr.write(`${painted(`${mark}: ${problemText(problem)}`)}\n`);
    },
    stream: (text) => void (quiet || json || stdout.write(printable(text))),
    dim: (text) => style('dim', text),
    bold: (text) => style('bold', text),
    colour: (name, text) => style(name, text),
  };
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

const SECRET = Math.random().toString(36).slice(2, 10);
const SIGNS = new RegExp(`\u0001${SECRET}(\\d+)\u0002`);

function sign(code: number): string {
  return `\u0001${SECRET}${code}\u0002`;
}

/** Our colours as the terminal knows them; everything else printable. */
function painted(line: string): string {
  return line
    .split(SIGNS)
    .map((part, i) => (i % 2 === 1 ? `\u001b[${part}m` : printable(part)))
    .join('');
}

/** Control, bidi and invisible characters as escapes; newline and tab stay. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (char) => {
      return char === '\r' ? '' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
    },
  );
}

/** One line, cut to `width` with an ellipsis. */
export function oneLine(text: string, width: number): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return columnsOf(line) <= width ? line : `${cutTo(line, Math.max(1, width - 1))}…`;
}

/** Columns as wide as their widest cell where that fits; the widest give way first, the last one takes what is left. Those in `whole` never give way. */
export function table(rows: string[][], width: number, whole: readonly number[] = []): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, c) =>
    rows.reduce((most, row) => Math.max(most, shownColumns(row[c] ?? '')), 0),
  );
  const wanted = Math.min(widths.at(-1) ?? 0, LAST_CELL);
  const room = (): number => width - widths.slice(0, -1).reduce((sum, w) => sum + w + 2, 0);
  while (room() < wanted) {
    const widest = widths.slice(0, -1).reduce((best, w, c) => (!whole.includes(c) && w > widths[best]! ? c : best), 0);
    if (whole.includes(widest) || widths[widest]! <= LEAST_CELL) break;
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
 * Rows with ids in them. An id or a name that is cut is of no use: a last column that is in `whole` goes on below itself, and where the others leave it
 * no room each row goes on over as many lines as it needs. The lines of each row.
 */
export function laid(rows: string[][], width: number, whole: readonly number[]): string[][] {
  const last = (rows[0]?.length ?? 1) - 1;
  const widths = Array.from({ length: last }, (_, c) =>
    rows.reduce((most, row) => Math.max(most, shownColumns(row[c] ?? '')), 0),
  );
  const left = widths.reduce((sum, w, c) => (whole.includes(c) ? sum + w + 2 : sum), 0);
  const wanted = rows.reduce((most, row) => Math.max(most, shownColumns(row[last] ?? '')), 0);
  if (left + Math.min(wanted, LEAST_LAST) > width)
    return rows.map((row) => wrapped(row.filter((cell) => shownColumns(cell) > 0).join('  '), width));
  if (!whole.includes(last)) return table(rows, width, whole).map((line) => [line]);
  return rows.map((row) => {
    const cells = row.map((cell, c) => (c < last ? cell + ' '.repeat(widths[c]! - shownColumns(cell)) : cell));
    return wrapped(cells.join('  '), width, ' '.repeat(left)).map((line) => line.trimEnd());
  });
}

/** The beginning of a sentence, in the last column of a table. */
const LEAST_LAST = 16;

/** A line that may hold our colours, over as many as it needs, broken at blanks alone. Those that go on are set in, unless a word needs the whole width. */
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

/** A cell or line that may hold our colours, cut to what can be seen of it. Blanks stay as they are: they may be a tree. */
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

/** On one line: every break, with what stands around it, becomes a blank. */
function unbroken(text: string): string {
  return text.replace(/ *[^\S ]\s*/g, ' ');
}

function shownColumns(cell: string): number {
  return columnsOf(bare(cell));
}

function bare(text: string): string {
  return text.replaceAll(new RegExp(SIGNS, 'g'), '');
}
