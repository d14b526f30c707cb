/**
 * A chunk of the task index: some thousand records, each with its name and its stamp, and the
 * values of its keys in columns. A row counts if its stamp equals the file's stamp, in whichever
 * chunk it is.
 */
import type { EndedState } from '../../domain/task/task.js';
import { columnBuilder, readColumn, UNREAD, type Column, type ColumnBuilder } from './cells.js';
import { STATES, type Stamp } from './ended-files.js';
import type { Sections } from './sections.js';

/** A record as it is put into a chunk. If the record could not be read, it has no row. */
interface IndexedTask {
  name: string;
  state: EndedState;
  stamp: Stamp;
  row: Record<string, unknown> | undefined;
}

export interface TaskChunk {
  readonly rows: number;
  name(row: number): string;
  state(row: number): EndedState;
  isStamp(row: number, stamp: Stamp): boolean;
  stamp(row: number): Stamp;
  /** The keys of the record in order; undefined if it could not be read. */
  keys(row: number): readonly string[] | undefined;
  /** Undefined if the chunk has no such column; `damaged` if it cannot be read. */
  column(key: string): Column | 'damaged' | undefined;
}

interface Meta {
  rows: number;
  shapes: (readonly string[])[];
  columns: string[];
}

const COLUMN = 'column ';
/** Keys beyond this number are read from the records. */
const MAX_COLUMNS = 100;

/** Undefined if a section that every look needs is damaged. */
export function readChunk(sections: Sections): TaskChunk | undefined {
  const { rows, shapes, columns } = sections.meta as Meta;
  const names = readColumn(sections.read('names'), rows);
  const stamps = sections.read('stamps');
  const shapeOf = sections.read('shapes');
  const states = sections.read('states');
  if (!names || stamps?.length !== rows * 32 || shapeOf?.length !== rows * 4 || states?.length !== rows)
    return undefined;
  const numbers = new Float64Array(stamps.buffer, stamps.byteOffset, rows * 4);
  const shapeNumbers = new Uint32Array(shapeOf.buffer, shapeOf.byteOffset, rows);
  const known = new Set(columns);
  return {
    rows,
    name: (row) => names.get(row) as string,
    state: (row) => STATES[states[row]!]!,
    isStamp: (row, stamp) =>
      numbers[row * 4 + 3] === stamp[3] &&
      numbers[row * 4 + 2] === stamp[2] &&
      numbers[row * 4 + 1] === stamp[1] &&
      numbers[row * 4] === stamp[0],
    stamp: (row) => [...numbers.subarray(row * 4, row * 4 + 4)] as unknown as Stamp,
    keys: (row) => (shapeNumbers[row] === 0 ? undefined : shapes[shapeNumbers[row]! - 1]),
    column: (key) => (known.has(key) ? (readColumn(sections.read(COLUMN + key), rows) ?? 'damaged') : undefined),
  };
}

export interface ChunkBuilder {
  readonly rows: number;
  add(task: IndexedTask): void;
  /** False, and nothing added, if the chunk is damaged. */
  copy(chunk: TaskChunk, rows: readonly number[]): boolean;
  finish(): { meta: Meta; sections: Map<string, Buffer> };
}

export function chunkBuilder(): ChunkBuilder {
  const names = columnBuilder(Infinity);
  const stamps: number[] = [];
  const states: number[] = [];
  const shapeOf: number[] = [];
  const shapes: (readonly string[])[] = [];
  const columns = new Map<string, ColumnBuilder>();

  return {
    get rows() {
      return states.length;
    },
    add({ name, state, stamp, row }) {
      const keys = row && Object.keys(row);
      addHead(name, state, stamp, keys);
      for (const key of keys ?? []) if (!DERIVED.has(key)) cells(key)?.add(row![key]);
    },
    copy(chunk, rows) {
      const keys = new Set(rows.flatMap((row) => chunk.keys(row) ?? []));
      const read = [...keys].flatMap((key) => (DERIVED.has(key) ? [] : [{ key, column: chunk.column(key) }]));
      if (read.some(({ column }) => column === 'damaged')) return false;
      for (const row of rows) {
        const own = chunk.keys(row);
        addHead(chunk.name(row), chunk.state(row), chunk.stamp(row), own);
        for (const { key, column } of read) {
          if (!own?.includes(key)) continue;
          if (typeof column === 'object') cells(key)?.copy(column.raw(row));
          else cells(key)?.add(UNREAD);
        }
      }
      return true;
    },
    finish() {
      const rows = states.length;
      const sections = new Map<string, Buffer>();
      const numbers = Float64Array.from(stamps);
      sections.set('names', names.finish());
      sections.set('stamps', Buffer.from(numbers.buffer));
      sections.set('shapes', Buffer.from(Uint32Array.from(shapeOf).buffer));
      sections.set('states', Buffer.from(states));
      for (const [key, builder] of columns) {
        builder.pad(rows);
        sections.set(COLUMN + key, builder.finish());
      }
      const meta: Meta = {
        rows,
        shapes,
        columns: [...columns.keys()],
      };
      return { meta, sections };
    },
  };

  function addHead(name: string, state: EndedState, stamp: Stamp, keys: readonly string[] | undefined): void {
    names.add(name);
    stamps.push(...stamp);
    states.push(STATES.indexOf(state));
    shapeOf.push(keys === undefined ? 0 : shapeNumber(keys));
  }

  /** Compared key by key: most records have one of a few shapes. */
  function shapeNumber(keys: readonly string[]): number {
    const known = shapes.findIndex((shape) => shape.length === keys.length && shape.every((key, i) => key === keys[i]));
    return known < 0 ? shapes.push(keys) : known + 1;
  }

  /** The column, filled up to the row that is being added; undefined beyond the limit. */
  function cells(key: string): ColumnBuilder | undefined {
    let column = columns.get(key);
    if (column === undefined && columns.size < MAX_COLUMNS) columns.set(key, (column = columnBuilder()));
    column?.pad(states.length - 1);
    return column;
  }
}

/** Columns that follow from the folder of the record. */
export const DERIVED = new Set(['state', 'completed', 'failed', 'in_progress']);
