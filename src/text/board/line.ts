/**
 * Parses the line of a bullet: prefixes in any order, the title, then `key: value` pairs. After an
 * error it continues only while the meaning is clear, because an entry with an error is ignored
 * anyway.
 */
import type { Box, Field, Item, Span, Value } from './item.js';
import { commentStart, isBlankChar, isKnownKey, readBare, readQuoted, TIGHT_KEY } from './value.js';

export interface Flaw {
  lint: string;
  severity: 'error' | 'warning';
  at: number;
  message: string;
  hint?: string;
}

/** The state of parsing one line. */
interface Head {
  item: Item;
  /** Start of the body in the file. Spans count from the start of the file, flaws from the body. */
  base: number;
  /** The last field ends in `|`: its value is on the lines below. */
  opensBlock: boolean;
  /** Start of a `<!--` that this line does not close. */
  opensComment?: number;
  flaws: Flaw[];
}

const BOX_LIKE = /\[[ \t]{0,3}[^\][\s]?[ \t]{0,3}\](?=[ \t]|$)/y;
const MARK = /[@#]([A-Za-z0-9_\u00a1-\uffff][A-Za-z0-9_./\u00a1-\uffff-]*)(?=[ \t]|$)/y;
const MARK_LIKE = /[@#][^\s]/y;
const KEY_HERE = new RegExp(`(?:[A-Za-z_][A-Za-z0-9_-]*:(?=[ \\t]|$)|${TIGHT_KEY})`, 'y');
const KEY_WITH_VALUE = new RegExp(`(?:([A-Za-z_][A-Za-z0-9_-]*):[ \\t]+[^ \\t]|${TIGHT_KEY})`, 'y');
const NEXT_KEY = new RegExp(`[ \\t](?:[A-Za-z_][A-Za-z0-9_-]*:(?=[ \\t]|$)|${TIGHT_KEY})`, 'g');
const NEXT_KEY_WITH_VALUE = /[ \t]([A-Za-z_][A-Za-z0-9_-]*):[ \t]+[^ \t]/g;
const TITLE_KEY = /[ \t]title:[ \t]+[^ \t]/;
const BOXES: Record<string, Box> = { ' ': 'open', _: 'open', '/': 'doing', x: 'done', X: 'done', '-': 'skipped' };
const UNCLOSED: Record<string, string> = { '"': 'TD001', '`': 'TD002', "'": 'TD003' };
const QUOTED_TITLE = 'put the title in quotes, then key: value';

/** Fills a new item from its line. */
export function parseHead(body: string, item: Item): Head {
  const head: Head = { item, base: item.bodyStart, opensBlock: false, opensComment: undefined, flaws: [] };
  const afterPrefixes = readPrefixes(head, body);
  item.restStart = head.base + afterPrefixes;
  const afterTitle = readTitle(head, body, afterPrefixes);
  if (afterTitle !== undefined) readPairs(head, body, afterTitle);
  return head;
}

/** Parses the value of `key` that starts at `at` on an indented `key: value` line. */
export function parseLineValue(
  line: string,
  at: number,
  key: string,
): { value: Value; span: Span; block: boolean; flaw?: Flaw } {
  const isQuote = UNCLOSED[line[at] ?? ''] !== undefined;
  const quotedEnd = isQuote ? readQuoted(line, at)?.end : undefined;
  let end = commentStart(line, quotedEnd ?? at, line.length, key);
  while (end > at && isBlankChar(line[end - 1])) end -= 1;
  const raw = line.slice(at, end);
  const span = { start: at, end };
  if (raw.startsWith('|')) return { value: '', span, block: true, ...blockFlaw(raw, at) };
  const lint = UNCLOSED[raw[0] ?? ''];
  if (lint === undefined) return { value: readBare(raw), span, block: false };
  const quoted = readQuoted(line.slice(0, end), at);
  if (!quoted) return { value: raw, span, block: false, flaw: unclosed(lint, raw[0]!, at) };
  return { value: quoted.end === end ? quoted.value : raw, span, block: false };
}

function readPrefixes(head: Head, body: string): number {
  let at = skip(body, 0);
  for (;;) {
    const next = readPrefix(head, body, at);
    if (next === undefined) return at;
    at = skip(body, next);
  }
}

/** The position after one prefix; undefined at the start of the title. */
function readPrefix(head: Head, body: string, at: number): number | undefined {
  const char = body[at];
  if (char === '[') {
    const box = BOXES[body[at + 1] ?? ''];
    if (box && body[at + 2] === ']' && isEnd(body, at + 3)) return setBox(head, box, at, at + 3);
    const end = matchEnd(BOX_LIKE, body, at);
    if (end === 0) return undefined;
    addError(
      head,
      'TD014',
      at,
      `${body.slice(at, end)} is not a box`,
      'use [ ] open, [/] in progress, [x] done or [-] skipped',
    );
    return end;
  }
  if ((char === 'x' || char === '-') && head.item.boxSpan === undefined && isEnd(body, at + 1)) {
    return setBox(head, BOXES[char]!, at, at + 1);
  }
  if (char === '@' || char === '#') return readMark(head, body, at);
  return isLoneCapital(body, at) ? readPriority(head, body, at) : undefined;
}

function setBox(head: Head, box: Box, start: number, end: number): number {
  if (head.item.boxSpan !== undefined) addError(head, 'TD013', start, 'a second box', 'keep one box');
  head.item.box = box;
  head.item.boxSpan = spanOf(head, start, end);
  return end;
}

function readMark(head: Head, body: string, at: number): number | undefined {
  const kind = body[at] as '@' | '#';
  const end = matchEnd(MARK, body, at);
  if (end > 0) {
    const { item } = head;
    const name = body.slice(at + 1, end);
    item.marks = withItem(item.marks, { kind, name, span: spanOf(head, at, end) });
    if (kind === '@') item.stakeholders = withItem(item.stakeholders, name);
    else item.tags = withItem(item.tags, name);
    return end;
  }
  if (matchEnd(MARK_LIKE, body, at)) {
    addError(
      head,
      kind === '@' ? 'TD010' : 'TD011',
      at,
      `this ${kind === '@' ? 'name' : 'tag'} has an invalid character`,
      'use letters, digits and _ . - /, then a space',
    );
  }
  return undefined;
}

function readPriority(head: Head, body: string, at: number): number | undefined {
  const letter = body[at]!;
  if (letter > 'D') {
    // A single capital may start a sentence ("I am here"). Before another prefix or a quoted title
    // it can only be a priority.
    if (!/^["'`@#[]/.test(body.slice(skip(body, at + 1), skip(body, at + 1) + 1))) return undefined;
    addError(head, 'TD012', at, `${letter} is not a priority`, 'priorities are A, B, C and D');
    return at + 1;
  }
  if (head.item.priority !== undefined) {
    addError(head, 'TD012', at, 'a second priority', 'keep one, or put the title in quotes');
    return at + 1;
  }
  head.item.priority = letter;
  head.item.prioritySpan = spanOf(head, at, at + 1);
  return at + 1;
}

/** The position after the title; undefined if the rest of the line cannot be read. */
function readTitle(head: Head, body: string, at: number): number | undefined {
  if (at >= body.length) return at;
  const lint = UNCLOSED[body[at]!];
  if (lint !== undefined) {
    const quoted = readQuoted(body, at);
    if (quoted) {
      head.item.title = quoted.value;
      head.item.titleSpan = spanOf(head, at, quoted.end);
      return quoted.end;
    }
    addFlaw(head, unclosed(lint, body[at]!, at));
    head.item.title = body.slice(at).trim();
    head.item.titleSpan = spanOf(head, at, body.length);
    return undefined;
  }
  return startsWithKey(body, at) ? at : readBareTitle(head, body, at);
}

/** `Fix: the login` is a title; `id: c1`, and any key before a `title:`, is not. */
function startsWithKey(body: string, at: number): boolean {
  KEY_WITH_VALUE.lastIndex = at;
  const match = KEY_WITH_VALUE.exec(body);
  if (match === null) return false;
  return isKnownKey(match[1] ?? match[2]!) || TITLE_KEY.test(body.slice(at));
}

/** Marks at its end count, as in `call the bank #money @ana`; marks and colons inside are text. */
function readBareTitle(head: Head, body: string, at: number): undefined {
  let end = body.length;
  const comment = body.indexOf('<!--', at);
  if (comment >= 0) {
    end = comment;
    if (!body.includes('-->', comment)) head.opensComment = comment;
  }
  while (end > at && isBlankChar(body[end - 1])) end -= 1;
  end = readEndMarks(head, body, at, end);
  const title = body.slice(0, end);
  head.item.title = title.slice(at);
  if (end > at) head.item.titleSpan = spanOf(head, at, end);
  reportKeyInTitle(head, title, at);
}

/** A known key is certainly meant as a key; any other word with a colon is text. */
function reportKeyInTitle(head: Head, title: string, at: number): void {
  const first = search(NEXT_KEY_WITH_VALUE, title, at);
  let pair = first;
  while (pair && !isKnownKey(pair[1]!)) pair = search(NEXT_KEY_WITH_VALUE, title, pair.index + 1);
  if (pair) addError(head, 'TD020', pair.index + 1, `the title before ${pair[1]}: has no quotes`, QUOTED_TITLE);
  else if (first)
    addFlaw(head, {
      lint: 'TD022',
      severity: 'warning',
      at: first.index + 1,
      message: `${first[1]}: is part of the title`,
      hint: `if it is a key, ${QUOTED_TITLE}`,
    });
}

/** Reads the marks between the title and `end`. Returns the end of the title. */
function readEndMarks(head: Head, body: string, from: number, end: number): number {
  const starts: number[] = [];
  for (;;) {
    let start = end;
    while (start > from && !isBlankChar(body[start - 1])) start -= 1;
    // `#42` is the number of something, not a tag.
    if (start <= from || matchEnd(MARK, body, start) !== end || /^#\d+$/.test(body.slice(start, end))) break;
    starts.unshift(start);
    end = start;
    while (end > from && isBlankChar(body[end - 1])) end -= 1;
  }
  for (const start of starts) readMark(head, body, start);
  return end;
}

function readPairs(head: Head, body: string, from: number): void {
  let at = skip(body, from);
  while (at < body.length) {
    if (body.startsWith('<!--', at)) {
      const close = body.indexOf('-->', at);
      if (close < 0) {
        head.opensComment = at;
        return;
      }
      at = skip(body, close + 3);
      continue;
    }
    if (body[at] === ';' && isEnd(body, at + 1)) return; // a comment
    if (matchEnd(MARK, body, at)) {
      at = skip(body, readMark(head, body, at)!);
      continue;
    }
    const key = head.base + at === head.item.restStart || isBlankChar(body[at - 1]) ? matchEnd(KEY_HERE, body, at) : 0;
    if (key === 0) return reportStray(head, body, at);
    const next = readPair(head, body, at, body.slice(at, key - 1));
    if (next === undefined) return;
    at = skip(body, next);
  }
}

function readPair(head: Head, body: string, start: number, key: string): number | undefined {
  const at = skip(body, start + key.length + 1);
  if (at >= body.length) return addField(head, key, '', start, start + key.length + 1, start + key.length + 1);
  const lint = UNCLOSED[body[at]!];
  if (lint !== undefined) {
    const quoted = readQuoted(body, at);
    if (quoted) return addField(head, key, quoted.value, start, at, quoted.end);
    addFlaw(head, unclosed(lint, body[at]!, at));
    return undefined;
  }
  if (body[at] === '|') {
    const raw = body.slice(at).trimEnd();
    const bad = blockFlaw(raw, at).flaw;
    if (bad) addFlaw(head, bad);
    head.opensBlock = true;
    addField(head, key, '', start, at, at + raw.length, 'block');
    return undefined;
  }
  NEXT_KEY.lastIndex = at;
  let end = NEXT_KEY.test(body) ? body.lastIndexOf(':', NEXT_KEY.lastIndex) : body.length;
  if (end < body.length) while (!isBlankChar(body[end - 1])) end -= 1;
  end = commentStart(body, at, end, key);
  while (end > at && isBlankChar(body[end - 1])) end -= 1;
  const raw = body.slice(at, end);
  if (/[ \t]/.test(raw)) {
    addFlaw(head, {
      lint: 'TD100',
      severity: 'warning',
      at,
      message: `the value of ${key} has spaces but no quotes`,
      hint: 'put it in quotes, or on its own line',
    });
  }
  return addField(head, key, readBare(raw), start, at, end);
}

/** Returns the end of the value. */
function addField(
  head: Head,
  key: string,
  value: Value,
  start: number,
  valueStart: number,
  end: number,
  form: Field['form'] = 'inline',
): number {
  const field = { key, value, form, span: spanOf(head, start, end), valueSpan: spanOf(head, valueStart, end) };
  head.item.fields = withItem(head.item.fields, field);
  return end;
}

/** Reports text where only `key: value` is allowed. */
function reportStray(head: Head, body: string, at: number): void {
  const char = body[at]!;
  if (matchEnd(MARK_LIKE, body, at)) return void readMark(head, body, at);
  if (isLoneCapital(body, at) && char <= 'D') {
    return addError(head, 'TD012', at, 'a priority must come before the title', 'move it to the front');
  }
  if (matchEnd(BOX_LIKE, body, at))
    return addError(head, 'TD013', at, 'a box must come before the title', 'move it to the front');
  addError(head, 'TD021', at, 'a value without a key', 'write key: value, or move it inside the quotes');
}

function blockFlaw(raw: string, at: number): { flaw?: Flaw } {
  if (raw === '|' || raw === '|-') return {};
  return {
    flaw: {
      lint: 'TD041',
      severity: 'error',
      at,
      message: 'nothing may follow the | of a block',
      hint: 'start the text on the next line, indented by two more spaces',
    },
  };
}

function unclosed(lint: string, quote: string, at: number): Flaw {
  return { lint, severity: 'error', at, message: `this ${quote} is never closed`, hint: 'close it on the same line' };
}

function addError(head: Head, lint: string, at: number, message: string, hint: string): void {
  addFlaw(head, { lint, severity: 'error', at, message, hint });
}

function addFlaw(head: Head, flaw: Flaw): void {
  head.flaws.push(flaw);
}

function spanOf(head: Head, start: number, end: number): Span {
  return { start: head.base + start, end: head.base + end };
}

function isEnd(body: string, at: number): boolean {
  return at >= body.length || isBlankChar(body[at]);
}

function isLoneCapital(body: string, at: number): boolean {
  const char = body[at] ?? '';
  return char >= 'A' && char <= 'Z' && isEnd(body, at + 1);
}

function skip(body: string, at: number): number {
  while (isBlankChar(body[at])) at += 1;
  return at;
}

function matchEnd(sticky: RegExp, body: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(body) ? sticky.lastIndex : 0;
}

/**
 * Appends to a list. Short lists are copied, because a growing array reserves memory for many
 * items.
 */
function withItem<T>(list: T[], entry: T): T[] {
  if (list.length === 0) return [entry];
  if (list.length < 8) return [...list, entry];
  list.push(entry);
  return list;
}

/** The first match from `at` on. It may start with the space just before it. */
function search(global: RegExp, body: string, at: number): RegExpExecArray | undefined {
  global.lastIndex = at;
  return global.exec(body) ?? undefined;
}
