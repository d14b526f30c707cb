/**
 * The parser's state between the lines of a board: the open items, and whether it is inside a block
 * value, a code fence or a comment, whose lines are never items. It also collects the problems.
 */
import { defined } from '../../domain/defined.js';
import type { Board, BoardProblem, Field, Item, Section, Span } from './item.js';
import { isBlank, stripIndent } from './value.js';
import { lineAt, whereOnLine } from '../lines/where.js';

export interface Line extends Span {
  /** First character that is not blank. */
  first: number;
  /** Columns before it. */
  indent: number;
  next: number;
  /** The line itself, without its line end. */
  source: string;
}

export interface Reading {
  text: string;
  board: Board;
  all: Item[];
  /** Where each line starts, up to the one being read. */
  starts: number[];
  inTodo: boolean;
  /** A heading of this level, or of a higher one, ends the section. */
  level: number;
  /** The section being read: of a heading of the second level, or of a deeper TODO. */
  section?: Section;
  /** Items that are still open, outermost first. */
  stack: Item[];
  /** End of the last line that was not blank, with its line end. */
  lastEnd: number;
  block?: { item: Item; field: Field; indent: number; bad: boolean; end?: number };
  fence?: { char: string; width: number; owner?: Item; at: number };
  comment?: number;
  /** The last `-->` of the file. */
  lastClose: number;
  /** The number of problems on the last line that had one. */
  reported: { line: number; error: number; warning: number };
}

export function startReading(text: string, file: string): Reading {
  const newline = text.indexOf('\n');
  const eol = newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n';
  const board = { file, items: [], rejected: [], problems: [], sections: [], eol, bodyStart: 0, openEnd: false };
  const lastClose = text.lastIndexOf('-->');
  const reported = { line: 0, error: 0, warning: 0 };
  return { text, board, all: [], starts: [], inTodo: false, level: 2, stack: [], lastEnd: 0, lastClose, reported };
}

/** True if this line belongs to a block, fence or comment opened above. */
export function isInside(reading: Reading, line: Line): boolean {
  return inBlock(reading, line) || inFence(reading, line) || inComment(reading, line);
}

export function openBlock(reading: Reading, item: Item, field: Field, indent: number, bad: boolean): void {
  reading.block = { item, field, indent, bad };
}

/** Opens a code fence if one starts at this place of the line. */
export function openFence(reading: Reading, line: Line, at: number, owner: Item | undefined): boolean {
  const char = reading.text[at];
  if (char !== '`' && char !== '~') return false;
  FENCE.lastIndex = at - line.start;
  const match = FENCE.exec(line.source);
  if (!match) return false;
  const run = (match[1] ?? match[2])!;
  reading.fence = { char, width: run.length, owner, at };
  return true;
}

/** A comment inside a line counts only if it is closed: a stray `<!--` must not hide the rest. */
export function openComment(reading: Reading, line: Line, at: number): boolean {
  if (at < 0 || line.source.includes('-->', at) || reading.lastClose < line.end) return false;
  reading.comment = line.start + at;
  return true;
}

/** Closes and reports everything that is still open at the end of the file. */
export function closeAll(reading: Reading): void {
  closeBlock(reading);
  if (reading.fence) {
    reading.board.openEnd ||= reading.fence.owner === undefined;
    closeFence(reading);
  }
  if (reading.comment === undefined) return;
  reading.board.openEnd = true;
  const hint = 'close it with -->; until then all text below is a comment';
  report(reading, undefined, reading.comment, 'TD091', 'this comment is never closed', hint);
}

/** Skips bullets outside TODO sections, and further problems of a line that already has many. */
export function report(
  reading: Reading,
  item: Item | undefined,
  at: number,
  lint: string,
  message: string,
  hint?: string,
  severity: BoardProblem['severity'] = 'error',
): void {
  if (item && severity === 'error') item.bad = true;
  if (item && !item.inTodo) return;
  const line = lineAt(reading.starts, at);
  if (isLimitReached(reading, line, severity)) return;
  const where = whereOnLine(reading.board.file, reading.text, line, reading.starts[line - 1]!, at);
  const code = lint === 'TD050' || lint === 'TD051' ? 'duplicate' : 'bad_file';
  reading.board.problems.push(
    defined({
      code,
      message: `${lint} ${message}`,
      where,
      lint,
      severity,
      hint,
    }),
  );
}

/** How many errors, and how many warnings, are reported per line. */
const MAX_PER_LINE = 20;

function isLimitReached(reading: Reading, line: number, severity: BoardProblem['severity']): boolean {
  if (reading.reported.line !== line) reading.reported = { line, error: 0, warning: 0 };
  reading.reported[severity] += 1;
  return reading.reported[severity] > MAX_PER_LINE;
}

const FENCE = /(`{3,})[^`]*$|(~{3,})/y;

function inBlock(reading: Reading, line: Line): boolean {
  if (!reading.block) return false;
  if (line.indent > reading.block.indent) {
    reading.block.end = line.end;
    return true;
  }
  closeBlock(reading);
  return false;
}

function closeBlock(reading: Reading): void {
  const block = reading.block;
  if (!block) return;
  const { field, item, end } = block;
  reading.block = undefined;
  if (end === undefined) {
    const hint = 'indent the text by two more spaces, or remove the field';
    if (!block.bad) report(reading, item, field.valueSpan.start, 'TD042', 'this block is empty', hint, 'warning');
    return;
  }
  const from = reading.text.indexOf('\n', field.valueSpan.end) + 1;
  const lines = reading.text.slice(from, end).split('\n');
  field.value = lines.map((text) => stripIndent(text.replace(/\r$/, ''), block.indent + 2)).join('\n');
  field.span.end = end;
  field.valueSpan.end = end;
  item.headEnd = end;
}

function inFence(reading: Reading, line: Line): boolean {
  const fence = reading.fence;
  if (!fence) return false;
  if (fence.owner && line.indent < fence.owner.indent + 2) {
    // The list item has ended, and its fence with it.
    closeFence(reading);
    return false;
  }
  let width = 0;
  while (reading.text[line.first + width] === fence.char) width += 1;
  if (width >= fence.width && isBlank(reading.text.slice(line.first + width, line.end))) reading.fence = undefined;
  return true;
}

function closeFence(reading: Reading): void {
  const { owner, at } = reading.fence!;
  reading.fence = undefined;
  if (owner) owner.openEnd = true;
  const hint = 'close it with the same characters on their own line';
  report(reading, owner, at, 'TD092', 'this code fence is never closed', hint, 'warning');
}

function inComment(reading: Reading, line: Line): boolean {
  if (reading.comment === undefined) return false;
  if (line.source.includes('-->')) reading.comment = undefined;
  return true;
}
