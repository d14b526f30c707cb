/**
 * The index of ended tasks. A look lists the two folders, compares the stamp of every file with the
 * chunks, and reads only files that no chunk has. Only readers do this; a run never pays for it.
 */
import path from 'node:path';
import type { EndedState } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import type { TaskIndex } from '../../ports/aggregates/task-index.js';
import { taskRow } from '../../text/records/task-row.js';
import { UNREAD } from './cells.js';
import { chunkStore, type StoredChunk } from './chunk-store.js';
import { isSettled, listEnded, readEnded, stampsIn, STATES, type Stamp } from './ended-files.js';
import { endedTasks } from './ended-rows.js';
import { foundRows } from './found-rows.js';
import { chunkBuilder, type ChunkBuilder, type TaskChunk } from './task-chunk.js';

interface IndexOptions {
  root: string;
  disk: Disk;
  /** The version of the program. An index of another version is not used. */
  version: string;
  /** Called now and then while many files are read. */
  onProgress?: ((done: number, total: number) => void) | undefined;
  /** With fewer changes than this nothing is written: reading them again costs little. */
  least?: number;
  chunkRows?: number;
  now?: () => number;
}

/** Raise it with every change of the format, or of the values read from a record. */
const FORMAT = 2;
const LEAST_CHANGES = 200;
const CHUNK_ROWS = 4096;
const PROGRESS_EVERY = 500;
/** `created_at` of a record without one is the time of reading, so the index cannot have it. */
const NO_TIME = 'no time';

interface EndedName {
  state: EndedState;
  name: string;
  /** The position in the listing of both folders. */
  place: number;
}

export function taskIndex(options: IndexOptions): TaskIndex {
  const { root, disk, version, onProgress, least = LEAST_CHANGES, chunkRows = CHUNK_ROWS, now = Date.now } = options;
  const store = chunkStore(path.join(root, '.guild', 'index'), `tasks ${FORMAT} ${version}`, chunkRows);
  const stampIn = Object.fromEntries(STATES.map((state) => [state, stampsIn(root, state)])) as Record<
    EndedState,
    (name: string) => Stamp | undefined
  >;

  return {
    look() {
      const stored = store.open();
      const unread = allNames();
      const found = foundRows(STATES.reduce((sum, state) => sum + unread[state].size, 0));
      for (const [number, each] of stored.entries()) compare(each, number, unread, found);
      const missing = STATES.flatMap((state) => [...unread[state]].map(([name, place]) => ({ state, name, place })));
      const added = readMissing(missing, stored.length, found);
      tidyIfWorthIt(stored, missing.length);
      const chunks = [...stored.map(({ chunk }) => chunk), ...added];
      const drop = (chunk: number): void => {
        if (chunk < stored.length) store.drop(stored[chunk]!.file);
      };
      return endedTasks({ root, disk, chunks, found, drop });
    },
    *newest(only) {
      const folders = listEnded(root, disk, only);
      const found = foundRows(folders.reduce((sum, { names }) => sum + names.length, 0));
      let place = 0;
      for (const [folder, { state, names }] of folders.entries())
        for (const [i, name] of names.entries()) {
          const stamp = stampIn[state](name);
          if (stamp !== undefined) found.add(stamp[2], place++, folder, i);
        }
      for (const { chunk, row } of found.inOrder()) {
        const { state, names } = folders[chunk]!;
        const file = { file: `tasks/${state}/${names[row]}`, state };
        const read = readEnded(root, disk, file, new Date().toISOString());
        if (read !== undefined) yield read;
      }
    },
  };

  /** The files of each folder, by name, with their place in the listing. */
  function allNames(): Record<EndedState, Map<string, number>> {
    let place = 0;
    const folders = { completed: new Map<string, number>(), failed: new Map<string, number>() };
    for (const { state, names } of listEnded(root, disk)) for (const name of names) folders[state].set(name, place++);
    return folders;
  }

  /**
   * Finds the rows of the chunk that describe a file as it is, and takes the files from `unread`.
   */
  function compare(
    { chunk, live }: StoredChunk,
    number: number,
    unread: Record<EndedState, Map<string, number>>,
    found: ReturnType<typeof foundRows>,
  ): void {
    for (let row = 0; row < chunk.rows; row++) {
      const name = chunk.name(row);
      const state = chunk.state(row);
      const place = unread[state].get(name);
      const stamp = place === undefined ? undefined : stampIn[state](name);
      if (stamp === undefined || !chunk.isStamp(row, stamp)) continue;
      unread[state].delete(name);
      found.add(stamp[2], place!, number, row);
      live.push(row);
    }
  }

  /** Reads files that no chunk has into chunks numbered from `first`. */
  function readMissing(missing: readonly EndedName[], first: number, found: ReturnType<typeof foundRows>): TaskChunk[] {
    const added: TaskChunk[] = [];
    const isWorthIt = missing.length >= least;
    const settled: Batch = { builder: chunkBuilder(), names: [] };
    // Their content may change again without another stamp, so they are not kept.
    const young: Batch = { builder: chunkBuilder(), names: [] };
    for (const [i, file] of missing.entries()) {
      if (isWorthIt && i % PROGRESS_EVERY === 0) onProgress?.(i, missing.length);
      const stamp = stampIn[file.state](file.name);
      if (stamp === undefined) continue;
      const batch = isSettled(stamp, now()) ? settled : young;
      batch.names.push(file);
      batch.builder.add({ name: file.name, state: file.state, stamp, row: rowOf(file) });
      if (batch.names.length === chunkRows) finish(batch);
    }
    finish(settled);
    finish(young);
    if (isWorthIt) onProgress?.(missing.length, missing.length);
    return added;

    function finish(batch: Batch): void {
      if (batch.names.length === 0) return;
      const isKept = isWorthIt && batch === settled;
      const chunk = isKept ? store.add(batch.builder) : store.inMemory(batch.builder);
      const number = first + added.push(chunk) - 1;
      for (const [row, { place }] of batch.names.entries()) found.add(chunk.stamp(row)[2], place, number, row);
      batch.builder = chunkBuilder();
      batch.names = [];
    }
  }

  function rowOf({ state, name }: EndedName): Record<string, unknown> | undefined {
    const read = readEnded(root, disk, { file: `tasks/${state}/${name}`, state }, NO_TIME);
    const row = read !== undefined && 'task' in read ? taskRow(read) : undefined;
    return row?.['created_at'] === NO_TIME ? { ...row, created_at: UNREAD } : row;
  }

  function tidyIfWorthIt(stored: readonly StoredChunk[], added: number): void {
    const live = stored.reduce((sum, each) => sum + each.live.length, 0);
    const dead = stored.reduce((sum, each) => sum + each.chunk.rows - each.live.length, 0);
    if (stored.length > 0 && (added >= least || dead > Math.max(least, live))) store.tidy(stored);
  }
}

interface Batch {
  builder: ChunkBuilder;
  names: EndedName[];
}
