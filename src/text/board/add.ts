/**
 * Adds items to a board at places that no open fence or comment includes. Existing text never
 * moves.
 */
import type { Board, Box, Item, Section, Span, Value } from './item.js';
import { eolAt, indentAt, writeBlock } from './edit.js';
import { parseBoard } from './parse.js';
import { blockText, writeScalar, writeTitle } from './value.js';

export interface NewItem {
  title: string;
  box?: Box;
  /** How an open box is written. Default `[ ]`. */
  openMark?: ' ' | '_';
  quote?: '"' | '`';
  priority?: string;
  stakeholders?: readonly string[];
  tags?: readonly string[];
  /** Written in this order. */
  fields?: Readonly<Record<string, Value>>;
  /** The parent, from parsing the same text. */
  under?: Item;
  /** The section; created at the end if it is missing. */
  heading?: string;
}

/** Returns the new text. `board` saves parsing the text again. */
export function addItem(text: string, item: NewItem, board: Board = parseBoard(text, '')): string {
  if (item.under) return addUnder(text, item, item.under);
  return addItems(text, [item], item.heading ?? 'TODO', board);
}

/** Adds several items to one section, in order. */
export function addItems(
  text: string,
  items: readonly NewItem[],
  heading: string,
  board: Board = parseBoard(text, ''),
): string {
  const lines = items.flatMap((item) => itemLines(text, item, ''));
  const same = (other: string): boolean => other.toUpperCase() === heading.toUpperCase();
  const section = board.sections.find((candidate) => same(candidate.heading));
  if (!section) return addSection(text, lines, heading, board);
  const place = placeIn(text, board, section);
  if (place === undefined) {
    const { start } = section.span;
    return text.slice(0, start) + [`## ${heading}`, '', ...lines, '', ''].join(board.eol) + text.slice(start);
  }
  return insertAfter(text, place.at, lines, place.apart ? board.eol : '');
}

/**
 * After the last item, or at the section's end if indented text follows that would become part of
 * the new item. Undefined if a fence or comment that is never closed would include the new item; it
 * then goes to the start.
 */
function placeIn(text: string, board: Board, section: Section): { at: number; apart: boolean } | undefined {
  if (board.openEnd) return isFree(text, section.headingEnd) ? { at: section.headingEnd, apart: true } : undefined;
  const last = lastWithin(board, section.span);
  if (last && isFree(text, last.span.end)) return { at: last.span.end, apart: false };
  return { at: section.span.end, apart: true };
}

/** True if the next line that is not blank is not indented. */
function isFree(text: string, at: number): boolean {
  const rest = /\n[ \t\r]*[^ \t\r\n]/g;
  rest.lastIndex = text[at - 1] === '\n' ? at - 1 : at;
  const match = rest.exec(text)?.[0];
  return match === undefined || match.length === 2;
}

function addUnder(text: string, item: NewItem, under: Item): string {
  const lines = itemLines(text, item, `${indentAt(text, under.span.start)}  `);
  return insertAfter(text, under.openEnd ? under.headEnd : under.span.end, lines, '');
}

function addSection(text: string, lines: readonly string[], heading: string, board: Board): string {
  const { eol } = board;
  const section = [`## ${heading}`, '', ...lines];
  if (board.openEnd) {
    const front = section.join(eol) + eol + eol;
    return text.slice(0, board.bodyStart) + front + text.slice(board.bodyStart);
  }
  const ended = text === '' || text === '\ufeff' || text.endsWith('\n') ? text : text + eol;
  const gap = ended === '' || ended === '\ufeff' || /\n\r?\n$/.test(ended) ? '' : eol;
  return ended + gap + section.join(eol) + eol;
}

/** The last item of a section that is not nested. Items with errors count too. */
function lastWithin(board: Board, { start, end }: Span): Item | undefined {
  let last: Item | undefined;
  for (const item of [...board.items, ...board.rejected]) {
    if (item.span.start < start || item.span.start >= end || item.parent) continue;
    if (!last || item.span.start > last.span.start) last = item;
  }
  return last;
}

/**
 * Inserts after the line that ends at or just before `at`. A missing final newline stays missing.
 */
function insertAfter(text: string, at: number, lines: string[], gap: string): string {
  const eol = eolAt(text, at);
  let end = at;
  if (text[end - 1] === '\n') end -= text[end - 2] === '\r' ? 2 : 1;
  return text.slice(0, end) + eol + gap + lines.join(eol) + text.slice(end);
}

/** The lines of a new item. Block values use the line ends of `text`. */
export function itemLines(text: string, item: NewItem, indent: string): string[] {
  const boxes = { open: item.openMark === '_' ? '[_]' : '[ ]', doing: '[/]', done: '[x]', skipped: '[-]' };
  const head = [
    '-',
    boxes[item.box ?? 'open'],
    ...(item.priority ? [item.priority] : []),
    ...(item.stakeholders ?? []).map((name) => `@${name}`),
    ...(item.tags ?? []).map((name) => `#${name}`),
    writeTitle(item.title, item.quote),
  ].join(' ');
  const inner = `${indent}  `;
  const fields = Object.entries(item.fields ?? {}).map(([key, value]) => {
    const written = typeof value === 'string' ? blockText(value) : value;
    const multiline = typeof written === 'string' && written.includes('\n');
    return `${inner}${key}: ${multiline ? writeBlock(text, written, `${inner}  `) : writeScalar(written)}`;
  });
  return [indent + head, ...fields];
}
