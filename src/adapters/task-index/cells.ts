/**
 * A column of the index: one cell per row, as text or JSON. A value that is long, or that JSON does
 * not keep exactly, is left out; the record is then read instead.
 */
import { ExactNumber } from '../../text/lines/exact-number.js';

/** The record has a value, but the index does not. */
export const UNREAD = Symbol('unread');

export interface Column {
  /** Undefined if the record has no such value, or `UNREAD`. */
  get(row: number): unknown;
  raw(row: number): RawCell;
  readonly bytes: number;
}

interface RawCell {
  kind: number;
  bytes: Buffer;
}

const ABSENT = 0;
const TEXT = 1;
const JSON_TEXT = 2;
const LEFT_OUT = 3;
/** Most descriptions and answers are shorter. */
const MAX_CELL_BYTES = 400;

export interface ColumnBuilder {
  add(value: unknown): void;
  copy(cell: RawCell): void;
  /** Adds absent cells up to this number of rows. */
  pad(rows: number): void;
  finish(): Buffer;
}

export function columnBuilder(maxBytes = MAX_CELL_BYTES): ColumnBuilder {
  const kinds: number[] = [];
  const ends: number[] = [];
  let content = Buffer.allocUnsafe(1024);
  let length = 0;
  return {
    add(value) {
      const text = value === undefined || value === UNREAD ? undefined : textOf(value);
      if (text === undefined) return push(value === undefined ? ABSENT : LEFT_OUT);
      // A character has at most three bytes for each unit of its length.
      const isShort = text.length <= maxBytes && makeRoom(text.length * 3);
      const bytes = isShort ? content.write(text, length) : Infinity;
      if (bytes > maxBytes) return push(LEFT_OUT);
      length += bytes;
      push(text === value ? TEXT : JSON_TEXT);
    },
    copy({ kind, bytes }) {
      makeRoom(bytes.length);
      length += bytes.copy(content, length);
      push(kind);
    },
    pad(rows) {
      while (kinds.length < rows) push(ABSENT);
    },
    finish() {
      const numbers = Uint32Array.from(ends);
      return Buffer.concat([Buffer.from(numbers.buffer), Buffer.from(kinds), content.subarray(0, length)]);
    },
  };

  function push(kind: number): void {
    kinds.push(kind);
    ends.push(length);
  }

  function makeRoom(bytes: number): true {
    if (length + bytes > content.length) {
      const wider = Buffer.allocUnsafe(Math.max(length + bytes, content.length * 2));
      content.copy(wider, 0, 0, length);
      content = wider;
    }
    return true;
  }
}

export function readColumn(bytes: Buffer | undefined, rows: number): Column | undefined {
  if (bytes === undefined || bytes.length < rows * 5) return undefined;
  const ends = new Uint32Array(bytes.buffer, bytes.byteOffset, rows);
  const kinds = bytes.subarray(rows * 4, rows * 5);
  const content = bytes.subarray(rows * 5);
  if (rows > 0 && ends[rows - 1] !== content.length) return undefined;
  const from = (row: number): number => (row === 0 ? 0 : ends[row - 1]!);
  return {
    bytes: bytes.length,
    get(row) {
      const kind = kinds[row];
      if (kind === ABSENT) return undefined;
      if (kind === LEFT_OUT) return UNREAD;
      const text = content.toString('utf8', from(row), ends[row]);
      return kind === TEXT ? text : JSON.parse(text);
    },
    raw: (row) => ({ kind: kinds[row]!, bytes: content.subarray(from(row), ends[row]) }),
  };
}

/** The value as text, or as JSON. Undefined if neither keeps it exactly. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' && !HALF_PAIR.test(value)) return value;
  return isKeptByJson(value, MAX_LEVELS) ? JSON.stringify(value) : undefined;
}

const MAX_LEVELS = 8;
/** UTF-8 has no half of a surrogate pair; JSON has escapes for it. */
const HALF_PAIR = /\p{Surrogate}/u;

/** Whether the value is the same after printing and parsing. */
function isKeptByJson(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return value !== undefined && typeof value !== 'symbol';
  if (levels === 0 || value instanceof ExactNumber) return false;
  if (Array.isArray(value)) return value.every((item) => isKeptByJson(item, levels - 1));
  return Object.values(value).every((field) => field === undefined || isKeptByJson(field, levels - 1));
}
