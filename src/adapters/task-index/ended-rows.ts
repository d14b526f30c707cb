/**
 * The ended tasks that a look found: rows from the chunks, and records where these lack a value.
 */
import type { Problem } from '../../domain/problem.js';
import type { Placed } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import type { EndedFile, EndedTasks } from '../../ports/aggregates/task-index.js';
import { stateColumns, taskRow } from '../../text/records/task-row.js';
import { UNREAD, type Column } from './cells.js';
import { readEnded } from './ended-files.js';
import type { FoundRows } from './found-rows.js';
import { DERIVED, type TaskChunk } from './task-chunk.js';

interface Options {
  root: string;
  disk: Disk;
  chunks: readonly TaskChunk[];
  found: FoundRows;
  /** Called for a chunk with a damaged column. */
  drop: (chunk: number) => void;
}

/** The limit on columns in memory; beyond it, those read first are read again when needed. */
const MAX_COLUMN_BYTES = 40 * 1024 * 1024;

export function endedTasks({ root, disk, chunks, found, drop }: Options): EndedTasks {
  const columns = columnCache(chunks, drop);
  let size: number | undefined;

  return {
    get size() {
      return (size ??= count());
    },
    columns() {
      const shapes = new Set<readonly string[]>();
      for (const { chunk, row } of found.inOrder()) shapes.add(chunks[chunk]!.keys(row) ?? []);
      return [...new Set([...shapes].flat())];
    },
    *rows(keys) {
      const wanted = [...new Set(keys)].filter((key) => !DERIVED.has(key));
      for (const { chunk, row } of found.inOrder()) {
        const own = chunks[chunk]!.keys(row);
        if (own === undefined) continue;
        const cells = cellsOf(chunk, row, own, wanted);
        const read = (): Placed | undefined => readTask(chunk, row);
        if (cells !== undefined) yield { row: cells, read };
        else {
          const placed = read(); // undefined if it is gone since the look
          if (placed !== undefined) yield { row: taskRow(placed), read };
        }
      }
    },
    *problems() {
      for (const { chunk, row } of found.inOrder()) {
        const now = chunks[chunk]!.keys(row) === undefined ? readNow(fileOf(chunk, row)) : undefined;
        if (now !== undefined && 'code' in now) yield now;
      }
    },
  };

  function readNow(place: EndedFile): Placed | Problem | undefined {
    return readEnded(root, disk, place, new Date().toISOString());
  }

  function readTask(chunk: number, row: number): Placed | undefined {
    const now = readNow(fileOf(chunk, row));
    return now !== undefined && 'task' in now ? now : undefined;
  }

  function count(): number {
    let readable = 0;
    for (const { chunk, row } of found.inOrder()) if (chunks[chunk]!.keys(row) !== undefined) readable++;
    return readable;
  }

  function fileOf(chunk: number, row: number): EndedFile {
    const state = chunks[chunk]!.state(row);
    return { file: `tasks/${state}/${chunks[chunk]!.name(row)}`, state };
  }

  /** Undefined if the index does not have all of them. */
  function cellsOf(
    chunk: number,
    row: number,
    own: readonly string[],
    wanted: readonly string[],
  ): Record<string, unknown> | undefined {
    const cells = stateColumns(chunks[chunk]!.state(row));
    for (const key of wanted) {
      if (!own.includes(key)) continue;
      const column = columns(chunk, key);
      const value = column === undefined ? UNREAD : column.get(row);
      if (value === UNREAD) return undefined;
      cells[key] = value;
    }
    return cells;
  }
}

type ColumnCache = (chunk: number, key: string) => Column | undefined;

function columnCache(chunks: readonly TaskChunk[], drop: (chunk: number) => void): ColumnCache {
  const cached = new Map<string, Column | undefined>();
  let bytes = 0;
  return (chunk, key) => {
    const name = `${chunk} ${key}`;
    if (cached.has(name)) return cached.get(name);
    const column = chunks[chunk]!.column(key);
    if (column === 'damaged') drop(chunk);
    const kept = typeof column === 'object' ? column : undefined;
    cached.set(name, kept);
    bytes += kept?.bytes ?? 0;
    while (bytes > MAX_COLUMN_BYTES && cached.size > 1) {
      const [oldest, { bytes: freed = 0 } = {}] = cached.entries().next().value!;
      cached.delete(oldest);
      bytes -= freed;
    }
    return kept;
  };
}
