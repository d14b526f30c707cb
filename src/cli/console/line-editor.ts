/** A text that a person types: several lines, history, paste. Pure; the caller reads keys. */
import { columnsOf, graphemes } from '../render/columns.js';
import type { Cursor } from '../render/dock.js';
import type { Key } from './keyboard.js';

export interface Draft {
  text: string;
  /** The place of the cursor in `text`. */
  at: number;
  /** How far back in the history it is; 0: not at all. */
  back: number;
  /** The text typed before the history was opened. */
  kept: string;
}

const EMPTY: Draft = { text: '', at: 0, back: 0, kept: '' };

export function draftOf(text: string): Draft {
  return { ...EMPTY, text, at: text.length };
}

/** The draft after a key; undefined if the key does not edit. */
export function edited(draft: Draft, key: Key, history: readonly string[] = []): Draft | undefined {
  const { text, at } = draft;
  switch (key.name) {
    case 'text':
    case 'paste':
      return inserted(draft, key.text);
    case 'newline':
      return inserted(draft, '\n');
    case 'backspace':
      return cut(draft, previous(text, at), at);
    case 'delete':
      return cut(draft, at, next(text, at));
    case 'kill-word':
      return cut(draft, wordLeft(text, at), at);
    case 'kill-line':
      return cut(draft, lineStart(text, at), at);
    case 'kill-rest':
      return cut(draft, at, lineEnd(text, at));
    case 'left':
      return { ...draft, at: previous(text, at) };
    case 'right':
      return { ...draft, at: next(text, at) };
    case 'word-left':
      return { ...draft, at: wordLeft(text, at) };
    case 'word-right':
      return { ...draft, at: at + /^\s*\S*/.exec(text.slice(at))![0].length };
    case 'home':
      return { ...draft, at: lineStart(text, at) };
    case 'line-end':
      return { ...draft, at: lineEnd(text, at) };
    case 'up':
      return lineStart(text, at) === 0 ? recalled(draft, history, 1) : moved(draft, -1);
    case 'down':
      return lineEnd(text, at) === text.length ? recalled(draft, history, -1) : moved(draft, 1);
    default:
      return undefined;
  }
}

/** The rows of the draft with a prompt before the first, and the place of the cursor. */
export function draftRows(
  { text, at }: Draft,
  prompt: string,
  width: number,
  maxRows = 8,
): { rows: string[]; cursor: Cursor } {
  const room = Math.max(4, width - 1 - columnsOf(prompt));
  const pad = ' '.repeat(columnsOf(prompt));
  const rows: string[] = [];
  let cursor: Cursor = { row: 0, column: columnsOf(prompt) };
  let place = 0;
  for (const line of text.split('\n')) {
    for (const part of pieces(line, room)) {
      if (at >= place && at <= place + part.length)
        cursor = { row: rows.length, column: columnsOf(prompt) + columnsOf(part.slice(0, at - place)) };
      rows.push((rows.length === 0 ? prompt : pad) + part);
      place += part.length;
    }
    place += 1;
  }
  const from = Math.max(0, Math.min(cursor.row - maxRows + 1, rows.length - maxRows));
  return { rows: rows.slice(from, from + maxRows), cursor: { ...cursor, row: cursor.row - from } };
}

function pieces(line: string, room: number): string[] {
  const all: string[] = [''];
  let width = 0;
  for (const { segment } of graphemes(line)) {
    const columns = columnsOf(segment);
    if (width + columns > room) {
      all.push('');
      width = 0;
    }
    all[all.length - 1] += segment;
    width += columns;
  }
  return all;
}

function inserted(draft: Draft, more: string): Draft {
  const { text, at } = draft;
  return { ...draft, text: text.slice(0, at) + more + text.slice(at), at: at + more.length, back: 0 };
}

function cut(draft: Draft, from: number, to: number): Draft {
  return { ...draft, text: draft.text.slice(0, from) + draft.text.slice(to), at: from, back: 0 };
}

/** A grapheme is never divided. */
function previous(text: string, at: number): number {
  const line = text.lastIndexOf('\n', at - 2) + 1;
  const before = [...graphemes(text.slice(line, at))].at(-1);
  return before === undefined ? 0 : line + before.index;
}

function next(text: string, at: number): number {
  const [first] = graphemes(text.slice(at));
  return first === undefined ? at : at + first.segment.length;
}

function wordLeft(text: string, at: number): number {
  return at - /\S*\s*$/.exec(text.slice(0, at))![0].length;
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** To the line above or below, in the same column if it is long enough. */
function moved(draft: Draft, by: 1 | -1): Draft {
  const { text, at } = draft;
  const column = at - lineStart(text, at);
  const start = by < 0 ? lineStart(text, lineStart(text, at) - 1) : lineEnd(text, at) + 1;
  return { ...draft, at: Math.min(start + column, lineEnd(text, start)) };
}

function recalled(draft: Draft, history: readonly string[], by: 1 | -1): Draft {
  const back = draft.back + by;
  if (back < 0 || back > history.length) return draft;
  const kept = draft.back === 0 ? draft.text : draft.kept;
  const text = back === 0 ? kept : history[history.length - back]!;
  return { text, at: text.length, back, kept };
}
