/**
 * What the reader of a board remembers between lines: the open items, and whether it is inside something whose lines
 * are text and never items (a block value, a code fence, a comment). Problems are reported through here.
 */
import type { Board, BoardProblem, Field, Item, Section, Span } from './item.js';
import { isBlank, stripIndent } from './value.js';
import { lineAt, whereOnLine } from '../lines/where.js';

export interface Line extends Span {
  /** First character that is not blank. */
  first: number;
  /** Columns before it. */
  indent: number;
  /** Start of the next line. */
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
  /** The section being read, if it has a heading of the second level. */
  section?: Section;
  /** Items that are still open, outermost first. */
  stack: Item[];
  /** End of the last line that was not blank, with its line end. */
  lastEnd: number;
  block?: { item: Item; field: Field; indent: number; bad: boolean; end?: number };
  fence?: { char: string; width: number; owner?: Item; at: number };
  /** Where the open comment begins. */
  comment?: number;
  /** The last `-->` of the file. */
  lastClose: number;
  /** How many flaws the last line that had one has. */
  told: { line: number; error: number; warning: number };
}

export function startReading(text: string, file: string): Reading {
  const newline = text.indexOf('\n');
  const eol = newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n';
  const board = { file, items: [], rejected: [], problems: [], sections: [], eol, bodyStart: 0, openEnd: false };
  const lastClose = text.lastIndexOf('-->');
  const told = { line: 0, error: 0, warning: 0 };
  return { text, board, all: [], starts: [], inTodo: false, stack: [], lastEnd: 0, lastClose, told };
}

/** Whether this line is text of something that was opened above. */
export function isInside(r: Reading, line: Line): boolean {
  return inBlock(r, line) || inFence(r, line) || inComment(r, line);
}

export function openBlock(r: Reading, item: Item, field: Field, indent: number, bad: boolean): void {
  r.block = { item, field, indent, bad };
}

/** Opens a code fence if one begins at this place of the line. */
export function openFence(r: Reading, line: Line, at: number, owner: Item | undefined): boolean {
  const char = r.text[at];
  if (char !== '`' && char !== '~') return false;
  FENCE.lastIndex = at - line.start;
  const found = FENCE.exec(line.source);
  if (!found) return false;
  const run = (found[1] ?? found[2])!;
  r.fence = { char, width: run.length, owner, at };
  return true;
}

/** A comment that begins inside a line counts only if it is closed somewhere: a stray `<!--` must not hide the rest. */
export function openComment(r: Reading, line: Line, at: number): boolean {
  if (at < 0 || line.source.includes('-->', at) || r.lastClose < line.end) return false;
  r.comment = line.start + at;
  return true;
}

/** At the end of the file: what is still open is closed, and said. */
export function closeAll(r: Reading): void {
  closeBlock(r);
  if (r.fence) {
    r.board.openEnd ||= r.fence.owner === undefined;
    closeFence(r);
  }
  if (r.comment === undefined) return;
  r.board.openEnd = true;
  const hint = 'all below it is a comment; write --> at its end';
  report(r, undefined, r.comment, 'TD091', 'this comment is never closed', hint);
}

/**
 * Bullets of other sections are prose: they can be bad, but nobody is told. Warnings do not isolate an item. Of one line
 * only the first flaws are told: a line with thousands is no line that anybody mends one by one.
 */
export function report(
  r: Reading,
  item: Item | undefined,
  at: number,
  lint: string,
  message: string,
  hint?: string,
  severity: BoardProblem['severity'] = 'error',
): void {
  if (item && severity === 'error') item.bad = true;
  if (item && !item.inTodo) return;
  const line = lineAt(r.starts, at);
  if (isToldEnough(r, line, severity)) return;
  const where = whereOnLine(r.board.file, r.text, line, r.starts[line - 1]!, at);
  const code = lint === 'TD050' || lint === 'TD051' ? 'duplicate' : 'bad_file';
  r.board.problems.push({ code, message: `${lint} ${message}`, where, lint, severity, ...(hint ? { hint } : {}) });
}

/** How many errors, and how many warnings, are told of one line. */
const MAX_TOLD = 20;

function isToldEnough(r: Reading, line: number, severity: BoardProblem['severity']): boolean {
  if (r.told.line !== line) r.told = { line, error: 0, warning: 0 };
  r.told[severity] += 1;
  return r.told[severity] > MAX_TOLD;
}

const FENCE = /(`{3,})[^`]*$|(~{3,})/y;

function inBlock(r: Reading, line: Line): boolean {
  if (!r.block) return false;
  if (line.indent > r.block.indent) {
    r.block.end = line.end;
    return true;
  }
  closeBlock(r);
  return false;
}

function closeBlock(r: Reading): void {
  const block = r.block;
  if (!block) return;
  const { field, item, end } = block;
  r.block = undefined;
  if (end === undefined) {
    const hint = 'write text two blanks further in, or remove the field';
    if (!block.bad) report(r, item, field.valueSpan.start, 'TD042', 'this block is empty', hint, 'warning');
    return;
  }
  const from = r.text.indexOf('\n', field.valueSpan.end) + 1;
  const lines = r.text.slice(from, end).split('\n');
  field.value = lines.map((text) => stripIndent(text.replace(/\r$/, ''), block.indent + 2)).join('\n');
  field.span.end = end;
  field.valueSpan.end = end;
  item.headEnd = end;
}

function inFence(r: Reading, line: Line): boolean {
  const fence = r.fence;
  if (!fence) return false;
  if (fence.owner && line.indent < fence.owner.indent + 2) {
    // The list item ended, and with it whatever it left open.
    closeFence(r);
    return false;
  }
  let width = 0;
  while (r.text[line.first + width] === fence.char) width += 1;
  if (width >= fence.width && isBlank(r.text.slice(line.first + width, line.end))) r.fence = undefined;
  return true;
}

function closeFence(r: Reading): void {
  const { owner, at } = r.fence!;
  r.fence = undefined;
  if (owner) owner.openEnd = true;
  const hint = 'close it with the same marks on a line of their own';
  report(r, owner, at, 'TD092', 'this code fence is never closed', hint, 'warning');
}

function inComment(r: Reading, line: Line): boolean {
  if (r.comment === undefined) return false;
  if (line.source.includes('-->')) r.comment = undefined;
  return true;
}
