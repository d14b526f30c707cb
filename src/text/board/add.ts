/** New items on a board. They go where nothing open above can swallow them, and never move what is there. */
import type { Board, Box, Item, Section, Span, Value } from './item.js';
import { eolAt, indentAt, writeBlock } from './edit.js';
import { parseBoard } from './parse.js';
import { blockText, writeScalar, writeTitle } from './value.js';

export interface NewItem {
  title: string;
  box?: Box;
  /** How an open box is written; `[ ]` if not said. */
  openMark?: ' ' | '_';
  quote?: '"' | '`';
  priority?: string;
  stakeholders?: readonly string[];
  tags?: readonly string[];
  /** In the order in which they shall stand. */
  fields?: Readonly<Record<string, Value>>;
  /** The parent, from parsing this very text. */
  under?: Item;
  /** The section; created at the end when missing. */
  heading?: string;
}

/** Returns the new text. `board` saves parsing the text again. */
export function addItem(text: string, given: NewItem, board: Board = parseBoard(text, '')): string {
  if (given.under) return addUnder(text, given, given.under);
  const heading = given.heading ?? 'TODO';
  const same = (other: string): boolean => other.toUpperCase() === heading.toUpperCase();
  const section = board.sections.find((s) => same(s.heading));
  if (!section) return addSection(text, given, heading, board);
  const lines = itemLines(text, given, '');
  const place = placeIn(text, board, section);
  if (place === undefined) {
    const { start } = section.span;
    return text.slice(0, start) + [`## ${heading}`, '', ...lines, '', ''].join(board.eol) + text.slice(start);
  }
  return insertAfter(text, place.at, lines, place.apart ? board.eol : '');
}

/**
 * Behind the last item, or at the section's end where indented text that is nobody's would become part of the new item.
 * Something left open to the end of the file would swallow it there: then in front of everything.
 */
function placeIn(text: string, board: Board, section: Section): { at: number; apart: boolean } | undefined {
  if (board.openEnd) return isFree(text, section.headingEnd) ? { at: section.headingEnd, apart: true } : undefined;
  const last = lastWithin(board, section.span);
  if (last && isFree(text, last.span.end)) return { at: last.span.end, apart: false };
  return { at: section.span.end, apart: true };
}

/** Whether the next line that is not blank starts at the margin. */
function isFree(text: string, at: number): boolean {
  const rest = /\n[ \t\r]*[^ \t\r\n]/g;
  rest.lastIndex = text[at - 1] === '\n' ? at - 1 : at;
  const found = rest.exec(text)?.[0];
  return found === undefined || found.length === 2;
}

function addUnder(text: string, given: NewItem, under: Item): string {
  const lines = itemLines(text, given, `${indentAt(text, under.span.start)}  `);
  return insertAfter(text, under.openEnd ? under.headEnd : under.span.end, lines, '');
}

function addSection(text: string, given: NewItem, heading: string, board: Board): string {
  const { eol } = board;
  const section = [`## ${heading}`, '', ...itemLines(text, given, '')];
  if (board.openEnd) {
    const front = section.join(eol) + eol + eol;
    return text.slice(0, board.bodyStart) + front + text.slice(board.bodyStart);
  }
  const ended = text === '' || text === '\ufeff' || text.endsWith('\n') ? text : text + eol;
  const gap = ended === '' || ended === '\ufeff' || /\n\r?\n$/.test(ended) ? '' : eol;
  return ended + gap + section.join(eol) + eol;
}

/** The last item of a section that is not nested; items with errors count, for they have their lines too. */
function lastWithin(board: Board, { start, end }: Span): Item | undefined {
  let last: Item | undefined;
  for (const item of [...board.items, ...board.rejected]) {
    if (item.span.start < start || item.span.start >= end || item.parent) continue;
    if (!last || item.span.start > last.span.start) last = item;
  }
  return last;
}

/** After the line that ends at or just before `at`; a missing final newline stays missing. */
function insertAfter(text: string, at: number, lines: string[], gap: string): string {
  const eol = eolAt(text, at);
  let end = at;
  if (text[end - 1] === '\n') end -= text[end - 2] === '\r' ? 2 : 1;
  return text.slice(0, end) + eol + gap + lines.join(eol) + text.slice(end);
}

/** The lines of a new item; `text` lends its line end to block values. */
export function itemLines(text: string, given: NewItem, indent: string): string[] {
  const boxes = { open: given.openMark === '_' ? '[_]' : '[ ]', doing: '[/]', done: '[x]', skipped: '[-]' };
  const head = [
    '-',
    boxes[given.box ?? 'open'],
    ...(given.priority ? [given.priority] : []),
    ...(given.stakeholders ?? []).map((name) => `@${name}`),
    ...(given.tags ?? []).map((name) => `#${name}`),
    writeTitle(given.title, given.quote),
  ].join(' ');
  const inner = `${indent}  `;
  const fields = Object.entries(given.fields ?? {}).map(([key, value]) => {
    const said = typeof value === 'string' ? blockText(value) : value;
    const multiline = typeof said === 'string' && said.includes('\n');
    return `${inner}${key}: ${multiline ? writeBlock(text, said, `${inner}  `) : writeScalar(said)}`;
  });
  return [indent + head, ...fields];
}
