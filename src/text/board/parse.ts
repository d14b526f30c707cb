/**
 * Reads a `*.task.md` board in one pass over its lines. Nothing is normalised and nothing is lost: the items only point
 * into the text. A bullet inside a code fence, a comment, front matter or a block value is text. An entry with an
 * error is set apart with its problem, and its neighbours are read as if it were not there.
 */
import type { Board, Field, Item } from './item.js';
import { type Flaw, parseHead, parseLineValue } from './line.js';
import {
  isInside,
  type Line,
  openBlock,
  openComment,
  openFence,
  type Reading,
  report,
  startReading,
} from './reading.js';
import { closeSection, popItem, settleBoard } from './settle.js';
import { isBlankChar } from './value.js';

export type { Board, BoardProblem, Box, Field, Item, Mark, Section, Span, Value } from './item.js';
export { fieldOf, itemKey } from './item.js';

export function parseBoard(text: string, file: string): Board {
  const r = startReading(text, file);
  let at = skipFrontMatter(r, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  r.board.bodyStart = at;
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    let end = newline < 0 ? text.length : newline;
    if (end > at && text.charCodeAt(end - 1) === 13) end -= 1;
    r.starts.push(at);
    readLine(r, at, end, next);
    at = next;
  }
  return settleBoard(r);
}

const HEADING = /(#{1,6})(?=[ \t]|$)/y;
const FIELD = /([A-Za-z_][A-Za-z0-9_-]*):(?=[ \t]|$)/y;
const RULE = /-[ \t]*-[ \t]*-[- \t]*$/y;
const CONFLICT = /^(?:<{7}|>{7})(?: |$)/;
const TWO_BLANKS = 'use two blanks for each level';

/** `---` on the first line up to the next `---`: settings of other programs. */
function skipFrontMatter(r: Reading, from: number): number {
  const start = r.text.slice(from, from + 20_000);
  const found = /^---[ \t]*\r?\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/.exec(start);
  if (!found) return from;
  const end = from + found[0].length;
  for (let at = from; at < end; at = r.text.indexOf('\n', at) + 1 || end) r.starts.push(at);
  return end;
}

function readLine(r: Reading, start: number, end: number, next: number): void {
  const source = r.text.slice(start, end);
  let blanks = 0;
  let indent = 0;
  for (; blanks < source.length; blanks++) {
    const char = source.charCodeAt(blanks);
    if (char === 32) indent += 1;
    else if (char === 9) indent += 2;
    else break;
  }
  if (blanks === source.length) return;
  const line: Line = { start, end, next, first: start + blanks, indent, source };
  if (!isInside(r, line)) readOpenLine(r, line);
  r.lastEnd = next;
}

function readOpenLine(r: Reading, line: Line): void {
  while (r.stack.length > 0 && r.stack.at(-1)!.indent >= line.indent) popItem(r);
  const owner = r.stack.at(-1);
  const at = line.first - line.start;
  if (isBullet(line.source, at)) return readBullet(r, line, owner);
  if (openFence(r, line, line.first, owner)) return;
  if (line.source.startsWith('<!--', at)) {
    if (!line.source.includes('-->')) r.comment = line.first;
    return;
  }
  if (owner) {
    const field = matchAt(FIELD, line.source, at);
    if (field) return readField(r, line, owner, field[1]!);
  } else if (line.indent > 0) {
    // Indented text of nobody: a heading here would change its meaning as soon as an item stands above it.
  } else if (line.source[0] === '#') {
    readHeading(r, line);
  } else if (CONFLICT.test(line.source)) {
    const hint = 'nothing is done from this file until the marks are gone';
    report(r, undefined, line.start, 'TD090', 'a merge conflict is not resolved', hint);
  }
  openComment(r, line, line.source.lastIndexOf('<!--'));
}

function readHeading(r: Reading, line: Line): void {
  const level = matchAt(HEADING, line.source, 0)?.[1]!.length ?? 0;
  if (level === 0 || level > 2) return;
  const heading = line.source
    .slice(level)
    .trim()
    .replace(/[ \t]#+$/, '')
    .trimEnd();
  r.inTodo = level === 2 && heading.toUpperCase() === 'TODO';
  closeSection(r);
  if (level !== 2) return;
  r.section = { heading, span: { start: line.start, end: line.next }, headingEnd: line.end };
  r.board.sections.push(r.section);
}

/** A dash and a blank, or a dash alone; three dashes are a rule across the page. */
function isBullet(source: string, at: number): boolean {
  if (source[at] !== '-') return false;
  const after = source[at + 1];
  return (after === undefined || isBlankChar(after)) && !matchAt(RULE, source, at);
}

function readBullet(r: Reading, line: Line, parent: Item | undefined): void {
  let at = line.first - line.start + 1;
  while (isBlankChar(line.source[at])) at += 1;
  const bodyStart = line.start + at;
  const body = line.source.slice(at);
  if (body.startsWith('<!--')) {
    if (!body.includes('-->')) r.comment = bodyStart;
    return;
  }
  const item = makeItem(r, line, bodyStart, parent);
  const head = parseHead(body, item);
  r.all.push(item);
  r.stack.push(item);
  for (const flaw of head.flaws) reportFlaw(r, item, flaw, bodyStart);
  checkNesting(r, item, line);
  if (head.opensBlock) openBlock(r, item, item.fields.at(-1)!, line.indent + 2, head.flaws.length > 0);
  if (head.opensComment !== undefined && openComment(r, line, at + head.opensComment)) {
    const hint = 'close it there, or begin it on a line of its own';
    report(r, item, bodyStart + head.opensComment, 'TD093', 'a comment on a bullet must end on its line', hint);
  }
  if (head.flaws.length > 0) openFence(r, line, bodyStart, item);
}

function makeItem(r: Reading, line: Line, bodyStart: number, parent: Item | undefined): Item {
  return {
    line: r.starts.length,
    indent: line.indent,
    parent,
    inTodo: r.inTodo,
    bad: false,
    box: 'open',
    boxSpan: undefined,
    priority: undefined,
    prioritySpan: undefined,
    marks: [],
    stakeholders: [],
    tags: [],
    title: '',
    titleSpan: undefined,
    id: undefined,
    fields: [],
    ordinal: 0,
    bodyStart,
    restStart: bodyStart,
    lineEnd: line.end,
    headEnd: line.end,
    span: { start: line.start, end: line.next },
    openEnd: false,
  };
}

function checkNesting(r: Reading, item: Item, line: Line): void {
  checkIndent(r, item, line);
  if (line.indent > 0 && !item.parent) {
    const hint = 'move it to the left, or under its parent';
    report(r, item, line.first, 'TD032', 'an indented bullet without one above it', hint);
  } else if (item.parent && line.indent > item.parent.indent + 2) {
    report(r, item, line.first, 'TD033', 'the indentation jumps by more than one level', TWO_BLANKS, 'warning');
  }
}

function checkIndent(r: Reading, item: Item, line: Line): void {
  if (line.indent % 2 === 1) {
    report(r, item, line.first, 'TD030', 'the indentation is not a multiple of two', TWO_BLANKS);
  }
}

function readField(r: Reading, line: Line, item: Item, key: string): void {
  let at = line.first - line.start + key.length + 1;
  while (isBlankChar(line.source[at])) at += 1;
  const read = parseLineValue(line.source, at);
  const valueSpan = { start: read.span.start + line.start, end: read.span.end + line.start };
  const form = read.block ? 'block' : 'line';
  const field: Field = { key, value: read.value, form, span: { start: line.first, end: valueSpan.end }, valueSpan };
  item.fields.push(field);
  item.headEnd = line.end;
  checkIndent(r, item, line);
  if (read.flaw) reportFlaw(r, item, read.flaw, line.start);
  if (read.block) {
    openBlock(r, item, field, line.indent, read.flaw !== undefined);
  } else if (at >= line.source.length && deeperBelow(r, line)) {
    // The lines below were meant for this key: they are kept from being read as items.
    report(r, item, line.first, 'TD040', `the lines below ${key}: need a |`, `write ${key}: | above them`);
    openBlock(r, item, field, line.indent, true);
  }
}

function deeperBelow(r: Reading, line: Line): boolean {
  let columns = 0;
  for (let at = line.next; at < r.text.length; at++) {
    const char = r.text[at];
    if (char === '\n') columns = 0;
    else if (char === ' ') columns += 1;
    else if (char === '\t') columns += 2;
    else if (char !== '\r') return columns > line.indent;
  }
  return false;
}

function reportFlaw(r: Reading, item: Item, flaw: Flaw, base: number): void {
  report(r, item, base + flaw.at, flaw.lint, flaw.message, flaw.hint, flaw.severity);
}

function matchAt(sticky: RegExp, source: string, at: number): RegExpExecArray | undefined {
  sticky.lastIndex = at;
  return sticky.exec(source) ?? undefined;
}
