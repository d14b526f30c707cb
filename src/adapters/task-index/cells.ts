/**
 * A column of the index: one cell a row, as text or JSON. A value that is long, or that JSON does
 * not keep exactly, is left out; then the record has to be read.
 */
import { ExactNumber } from '../../text/lines/exact-number.js';

/** The record has a value, and the index does not. */
export const UNREAD = Symbol('unread');

export interface Column {
  /** Undefined if the record has no such value, or `UNREAD`. */
  get(row: number): unknown;
  /** The cell as it is stored, to copy it. */
  raw(row: number): RawCell;
  readonly bytes: number;
}

export interface RawCell {
  kind: number;
  bytes: Buffer;
}

const ABSENT = 0;
const TEXT = 1;
const JSON_TEXT = 2;
const LEFT_OUT = 3;
/** Most descriptions and answers are shorter. */
const MAX_CELL_BYTES = 400;
const NOTHING = Buffer.alloc(0);

export interface ColumnBuilder {
  add(value: unknown): void;
  copy(cell: RawCell): void;
  /** Adds absent cells up to this number of rows. */
  pad(rows: number): void;
  finish(): Buffer;
}

export function columnBuilder(maxBytes = MAX_CELL_BYTES): ColumnBuilder {
  const cells: RawCell[] = [];
  return {
    add: (value) => void cells.push(cellOf(value, maxBytes)),
    copy: (cell) => void cells.push(cell),
    pad(rows) {
      while (cells.length < rows) cells.push({ kind: ABSENT, bytes: NOTHING });
    },
    finish() {
      const kinds = Buffer.from(cells.map(({ kind }) => kind));
      const ends = new Uint32Array(cells.length);
      let end = 0;
      for (const [i, { bytes }] of cells.entries()) ends[i] = end += bytes.length;
      const bytesOfEnds = Buffer.from(ends.buffer, ends.byteOffset, ends.byteLength);
      return Buffer.concat([bytesOfEnds, kinds, ...cells.map(({ bytes }) => bytes)]);
    },
  };
}

/** Undefined if the bytes are not a column of so many rows. */
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

function cellOf(value: unknown, maxBytes: number): RawCell {
  if (value === undefined) return { kind: ABSENT, bytes: NOTHING };
  if (value === UNREAD || !isKeptByJson(value, 8)) return { kind: LEFT_OUT, bytes: NOTHING };
  const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  if (bytes.length > maxBytes) return { kind: LEFT_OUT, bytes: NOTHING };
  return { kind: typeof value === 'string' ? TEXT : JSON_TEXT, bytes };
}

const HALF_PAIR = /\p{Surrogate}/u;

/** Half a surrogate pair is lost in UTF-8. */
export function isWellFormed(text: string): boolean {
  return !HALF_PAIR.test(text);
}

/** Whether the value is the same after printing and parsing. */
function isKeptByJson(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isWellFormed(value);
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return value !== undefined && typeof value !== 'symbol';
  if (levels === 0 || value instanceof ExactNumber) return false;
  if (Array.isArray(value)) return value.every((item) => isKeptByJson(item, levels - 1));
  return Object.entries(value).every(
    ([key, field]) => isWellFormed(key) && (field === undefined || isKeptByJson(field, levels - 1)),
  );
}
