/**
 * Edits a board by replacing spans; every byte outside an edit stays the same. The item must come
 * from parsing the same text. Functions return edits, so that many can be applied to one parse.
 */
import { problemError } from '../../domain/problem.js';
import type { Box, Field, Item, Span, Value } from './item.js';
import { fieldOf } from './item.js';
import { blockText, isBlankChar, isKey, writeScalar, writeTitle } from './value.js';

export interface Edit extends Span {
  text: string;
}

/** Edits must not overlap. Edits at the same place are applied in the given order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = edits.map((edit, order) => ({ edit, order }));
  sorted.sort((a, b) => a.edit.start - b.edit.start || a.edit.end - b.edit.end || a.order - b.order);
  const parts: string[] = [];
  let at = 0;
  for (const { edit } of sorted) {
    if (edit.start < at) throw new Error('edits of a board overlap');
    parts.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

export function boxEdits(text: string, item: Item, box: Box): Edit[] {
  if (item.box === box) return [];
  const mark = { open: '[ ]', doing: '[/]', done: '[x]', skipped: '[-]' }[box];
  if (item.boxSpan) return [{ ...item.boxSpan, text: mark }];
  return [insertToken(text, item, item.bodyStart, mark)];
}

/**
 * The value gets the file's line ends and loses trailing blank lines; otherwise it reads back
 * unchanged.
 */
export function fieldEdits(text: string, item: Item, key: string, value: Value): Edit[] {
  if (!isKey(key)) throw problemError('bad_field', `${key} is not a valid board key`);
  const normal = typeof value === 'string' ? blockText(value) : value;
  const multiline = typeof normal === 'string' && normal.includes('\n');
  const field = fieldOf(item, key);
  if (!field) return [addLine(text, item, key, normal)];
  if (field.value === normal && typeof field.value === typeof normal) return [];
  const moves = isOnBullet(item, field) ? multiline || field.form === 'block' : multiline && swallows(text, field);
  if (moves) {
    return [...removeFieldEdits(text, item, key), addLine(text, item, key, normal)];
  }
  const { valueSpan } = field;
  const written = multiline
    ? writeBlock(text, normal, indentAt(text, field.span.start) + '  ')
    : writeScalar(normal, field.form === 'inline');
  // `key:` without a value has no space after the colon.
  const gap = isBlankChar(text[valueSpan.start - 1]) ? '' : ' ';
  return [{ ...valueSpan, text: gap + written }];
}

export function removeFieldEdits(text: string, item: Item, key: string): Edit[] {
  const field = fieldOf(item, key);
  if (!field) return [];
  if (!isOnBullet(item, field)) return [wholeLines(text, field.span)];
  let { start } = field.span;
  while (start > item.bodyStart && isBlankChar(text[start - 1])) start -= 1;
  return [{ start, end: field.span.end, text: '' }];
}

export function titleEdits(text: string, item: Item, title: string): Edit[] {
  if (item.title === title) return [];
  if (fieldOf(item, 'title')) return fieldEdits(text, item, 'title', title);
  const written = writeTitle(title);
  if (item.titleSpan) return [{ ...item.titleSpan, text: written }];
  return [insertToken(text, item, item.restStart, written)];
}

export function priorityEdits(text: string, item: Item, priority: string | undefined): Edit[] {
  if (item.priority === priority) return [];
  if (priority === undefined) {
    const mark = item.prioritySpan ? [removeToken(text, item.prioritySpan)] : [];
    return [...mark, ...removeFieldEdits(text, item, 'priority')];
  }
  if (item.prioritySpan) return [{ ...item.prioritySpan, text: priority }];
  if (fieldOf(item, 'priority')) return fieldEdits(text, item, 'priority', priority);
  return [insertToken(text, item, item.boxSpan ? skipBlanks(text, item.boxSpan.end) : item.bodyStart, priority)];
}

export function markEdits(text: string, item: Item, kind: '@' | '#', names: readonly string[]): Edit[] {
  const listKey = kind === '@' ? 'stakeholders' : 'tags';
  const edits: Edit[] = fieldOf(item, listKey) ? removeFieldEdits(text, item, listKey) : [];
  const wanted = new Set(names);
  for (const mark of item.marks) {
    if (mark.kind === kind && !wanted.delete(mark.name)) edits.push(removeToken(text, mark.span));
  }
  for (const name of wanted) edits.push(insertToken(text, item, item.restStart, kind + name));
  return edits;
}

/** Adds `key: value` or `key: |` below the item's last own line, indented like its neighbours. */
function addLine(text: string, item: Item, key: string, value: Value): Edit {
  const eol = eolAt(text, item.headEnd);
  const sibling = item.fields.findLast((field) => !isOnBullet(item, field));
  let indent = sibling ? indentAt(text, sibling.span.start) : indentAt(text, item.span.start) + '  ';
  const multiline = typeof value === 'string' && value.includes('\n');
  if (multiline) {
    // Deeper text below would become part of the block, so indent the key as deep as that text.
    const next = indentBelow(text, item.headEnd);
    if (next > columnsOf(indent)) indent = ' '.repeat(next + (next % 2));
  }
  const written = multiline ? writeBlock(text, value, indent + '  ') : writeScalar(value);
  return { start: item.headEnd, end: item.headEnd, text: `${eol}${indent}${key}: ${written}` };
}

/** True if a block at this place would include the text below it. */
function swallows(text: string, field: Field): boolean {
  return field.form !== 'block' && indentBelow(text, field.span.end) > columnsOf(indentAt(text, field.span.start));
}

/** Indentation of the next line that is not blank; 0 at the end of the text. */
function indentBelow(text: string, at: number): number {
  const next = /\n([ \t]*)[^ \t\r\n]/g;
  next.lastIndex = at;
  return columnsOf(next.exec(text)?.[1] ?? '');
}

function columnsOf(blanks: string): number {
  let columns = 0;
  for (const char of blanks) columns += char === '\t' ? 2 : 1;
  return columns;
}

/** `|` and the indented lines. Empty lines stay empty. */
export function writeBlock(text: string, value: string, indent: string): string {
  const eol = eolAt(text, text.length);
  const lines = blockText(value)
    .split('\n')
    .map((line) => (line === '' ? '' : indent + line));
  return ['|', ...lines].join(eol);
}

export function eolAt(text: string, at: number): string {
  const next = text.indexOf('\n', at);
  const newline = next < 0 ? text.lastIndexOf('\n') : next;
  return newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n';
}

export function indentAt(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  return text.slice(start, skipBlanks(text, start));
}

function isOnBullet(item: Item, field: Field): boolean {
  return field.span.start <= item.lineEnd;
}

/** Inserts a token and a space at `at`, or at the end of the line. */
function insertToken(text: string, item: Item, at: number, token: string): Edit {
  if (at < item.lineEnd) return { start: at, end: at, text: `${token} ` };
  return { start: item.lineEnd, end: item.lineEnd, text: isBlankChar(text[item.lineEnd - 1]) ? token : ` ${token}` };
}

function removeToken(text: string, span: Span): Edit {
  return { start: span.start, end: skipBlanks(text, span.end), text: '' };
}

/** Removes the field's lines and the line end before them; a field is always below its bullet. */
function wholeLines(text: string, span: Span): Edit {
  const newline = text.lastIndexOf('\n', span.start - 1);
  return { start: text[newline - 1] === '\r' ? newline - 1 : newline, end: skipBlanks(text, span.end), text: '' };
}

function skipBlanks(text: string, at: number): number {
  while (isBlankChar(text[at])) at += 1;
  return at;
}
