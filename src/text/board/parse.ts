/**
 * Parses a `*.task.md` board in one pass. Items only point into the text, so nothing is lost. A
 * bullet inside a code fence, a comment, front matter or a block value is text. An entry with an
 * error is rejected, and the others are read as if it did not exist.
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
import { closeSection, popItem, finishBoard } from './finish-board.js';
import { isBlankChar, TIGHT_KEY } from './value.js';

export type { Board, BoardProblem, Field, Item } from './item.js';
export { fieldOf, itemKey } from './item.js';

export function parseBoard(text: string, file: string): Board {
  const reading = startReading(text, file);
  let at = skipFrontMatter(reading, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  reading.board.bodyStart = at;
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    let end = newline < 0 ? text.length : newline;
    if (end > at && text.charCodeAt(end - 1) === 13) end -= 1;
    reading.starts.push(at);
    readLine(reading, at, end, next);
    at = next;
  }
  return finishBoard(reading);
}

const HEADING = /(#{1,6})(?=[ \t]|$)/y;
const FIELD = new RegExp(`(?:([A-Za-z_][A-Za-z0-9_-]*):(?=[ \\t]|$)|${TIGHT_KEY})`, 'y');
const RULE = /([-*])[ \t]*\1[ \t]*\1(?:\1|[ \t])*$/y;
const BOX_AHEAD = /[ \t]+\[[^\]\n]\](?:[ \t]|$)/y;
const CONFLICT = /^(?:<{7}|>{7})(?: |$)/;
const TWO_SPACES = 'use two spaces for each level';

/** Skips `---` on the first line up to the next `---`: settings of other programs. */
function skipFrontMatter(reading: Reading, from: number): number {
  const start = reading.text.slice(from, from + 20_000);
  const match = /^---[ \t]*\r?\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/.exec(start);
  if (!match) return from;
  const end = from + match[0].length;
  for (let at = from; at < end; at = reading.text.indexOf('\n', at) + 1 || end) reading.starts.push(at);
  return end;
}

function readLine(reading: Reading, start: number, end: number, next: number): void {
  const source = reading.text.slice(start, end);
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
  if (!isInside(reading, line)) readOpenLine(reading, line);
  reading.lastEnd = next;
}

function readOpenLine(reading: Reading, line: Line): void {
  while (reading.stack.length > 0 && reading.stack.at(-1)!.indent >= line.indent) popItem(reading);
  const owner = reading.stack.at(-1);
  const at = line.first - line.start;
  if (isBullet(line.source, at)) return readBullet(reading, line, owner);
  if (openFence(reading, line, line.first, owner)) return;
  if (line.source.startsWith('<!--', at)) {
    if (!line.source.includes('-->')) reading.comment = line.first;
    return;
  }
  if (owner) {
    const field = matchAt(FIELD, line.source, at);
    if (field) return readField(reading, line, owner, field[1] ?? field[2]!);
  } else if (line.indent > 0) {
    // Indented text outside items is never a heading: an item above it would include that text.
  } else if (line.source[0] === '#') {
    readHeading(reading, line);
  } else if (CONFLICT.test(line.source)) {
    const hint = 'remove the conflict markers; until then this file is ignored';
    report(reading, undefined, line.start, 'TD090', 'this file has an unresolved merge conflict', hint);
  }
  openComment(reading, line, line.source.lastIndexOf('<!--'));
}

function readHeading(reading: Reading, line: Line): void {
  const level = matchAt(HEADING, line.source, 0)?.[1]!.length ?? 0;
  if (level === 0) return;
  const heading = line.source
    .slice(level)
    .trim()
    .replace(/[ \t]#+$/, '')
    .trimEnd();
  const isTodo = level >= 2 && heading.toUpperCase() === 'TODO';
  // A deeper heading, such as a group of tasks, stays inside its section.
  if (!isTodo && level > reading.level) return;
  reading.inTodo = isTodo;
  reading.level = isTodo ? level : 2;
  closeSection(reading);
  if (level !== reading.level) return;
  reading.section = { heading, span: { start: line.start, end: line.next }, headingEnd: line.end };
  reading.board.sections.push(reading.section);
}

/**
 * A dash and a space, or a dash alone. Three dashes are a horizontal rule. After `*` and `+` a box
 * must follow: people also use them for plain lists.
 */
function isBullet(source: string, at: number): boolean {
  if (source[at] === '*' || source[at] === '+') return matchAt(BOX_AHEAD, source, at + 1) !== undefined;
  if (source[at] !== '-') return false;
  const after = source[at + 1];
  return (after === undefined || isBlankChar(after)) && !matchAt(RULE, source, at);
}

function readBullet(reading: Reading, line: Line, parent: Item | undefined): void {
  let at = line.first - line.start + 1;
  while (isBlankChar(line.source[at])) at += 1;
  const bodyStart = line.start + at;
  const body = line.source.slice(at);
  if (body.startsWith('<!--')) {
    if (!body.includes('-->')) reading.comment = bodyStart;
    return;
  }
  const item = makeItem(reading, line, bodyStart, parent);
  const head = parseHead(body, item);
  reading.all.push(item);
  reading.stack.push(item);
  for (const flaw of head.flaws) reportFlaw(reading, item, flaw, bodyStart);
  checkNesting(reading, item, line);
  if (head.opensBlock) openBlock(reading, item, item.fields.at(-1)!, line.indent + 2, head.flaws.length > 0);
  if (head.opensComment !== undefined && openComment(reading, line, at + head.opensComment)) {
    const hint = 'close it there, or start it on its own line';
    report(reading, item, bodyStart + head.opensComment, 'TD093', 'a comment on a bullet must end on its line', hint);
  }
  if (head.flaws.length > 0) openFence(reading, line, bodyStart, item);
}

function makeItem(reading: Reading, line: Line, bodyStart: number, parent: Item | undefined): Item {
  return {
    line: reading.starts.length,
    indent: line.indent,
    parent,
    inTodo: reading.inTodo,
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

function checkNesting(reading: Reading, item: Item, line: Line): void {
  checkIndent(reading, item, line);
  if (line.indent > 0 && !item.parent) {
    const hint = 'remove the indentation, or move it under its parent';
    report(reading, item, line.first, 'TD032', 'an indented bullet without a parent above it', hint);
  } else if (item.parent && line.indent > item.parent.indent + 2) {
    report(reading, item, line.first, 'TD033', 'the indentation jumps by more than one level', TWO_SPACES, 'warning');
  }
}

function checkIndent(reading: Reading, item: Item, line: Line): void {
  if (line.indent % 2 === 1) {
    report(reading, item, line.first, 'TD030', 'the indentation is not a multiple of two', TWO_SPACES);
  }
}

function readField(reading: Reading, line: Line, item: Item, key: string): void {
  let at = line.first - line.start + key.length + 1;
  while (isBlankChar(line.source[at])) at += 1;
  const read = parseLineValue(line.source, at, key);
  const valueSpan = { start: read.span.start + line.start, end: read.span.end + line.start };
  const form = read.block ? 'block' : 'line';
  const field: Field = { key, value: read.value, form, span: { start: line.first, end: valueSpan.end }, valueSpan };
  item.fields.push(field);
  item.headEnd = line.end;
  checkIndent(reading, item, line);
  if (read.flaw) reportFlaw(reading, item, read.flaw, line.start);
  if (read.block) {
    openBlock(reading, item, field, line.indent, read.flaw !== undefined);
  } else if (at >= line.source.length && hasDeeperLines(reading, line)) {
    // The lines below are probably meant as the value of this key, so they are not read as items.
    report(reading, item, line.first, 'TD040', `the lines below ${key}: need a |`, `write ${key}: | above them`);
    openBlock(reading, item, field, line.indent, true);
  }
}

function hasDeeperLines(reading: Reading, line: Line): boolean {
  let columns = 0;
  for (let at = line.next; at < reading.text.length; at++) {
    const char = reading.text[at];
    if (char === '\n') columns = 0;
    else if (char === ' ') columns += 1;
    else if (char === '\t') columns += 2;
    else if (char !== '\r') return columns > line.indent;
  }
  return false;
}

function reportFlaw(reading: Reading, item: Item, flaw: Flaw, base: number): void {
  report(reading, item, base + flaw.at, flaw.lint, flaw.message, flaw.hint, flaw.severity);
}

function matchAt(sticky: RegExp, source: string, at: number): RegExpExecArray | undefined {
  sticky.lastIndex = at;
  return sticky.exec(source) ?? undefined;
}
