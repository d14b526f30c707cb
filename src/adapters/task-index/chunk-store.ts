/**
 * The chunks of the task index as files. Several processes may write at once: each file is replaced
 * atomically, and the next look reads a record again if its row was lost.
 */
import path from 'node:path';
import {
  indexFiles,
  openSections,
  removeAbandoned,
  removeQuietly,
  sectionsInMemory,
  writeSections,
} from './sections.js';
import { chunkBuilder, readChunk, type ChunkBuilder, type TaskChunk } from './task-chunk.js';

export interface StoredChunk {
  file: string;
  chunk: TaskChunk;
  /** The rows that describe a file as it is now. */
  live: number[];
}

interface ChunkStore {
  /** All readable chunks. Chunks that are damaged or of another version are removed. */
  open(): StoredChunk[];
  /** As a file, or in memory if it cannot be written. */
  add(builder: ChunkBuilder): TaskChunk;
  inMemory(builder: ChunkBuilder): TaskChunk;
  /** Merges chunks that have few live rows into full ones. */
  tidy(stored: readonly StoredChunk[]): void;
  /** The chunk turned out to be damaged; the next look reads its records again. */
  drop(file: string): void;
}

const PREFIX = 'tasks-';

export function chunkStore(folder: string, by: string, chunkRows: number): ChunkStore {
  let isWritable = true;
  return {
    open() {
      return indexFiles(folder, PREFIX)
        .sort()
        .flatMap((name) => {
          const file = path.join(folder, name);
          const sections = openSections(file, by);
          const chunk = sections && readChunk(sections);
          if (chunk !== undefined) return [{ file, chunk, live: [] }];
          removeQuietly(file);
          return [];
        });
    },
    add: (builder) => write(builder) ?? inMemory(builder),
    inMemory,
    tidy(stored) {
      removeAbandoned(folder);
      const thin = stored.filter(
        ({ live, chunk }) => live.length < Math.min(chunkRows, chunk.rows) * 0.75 || live.length < chunkRows * 0.75,
      );
      for (const { file } of thin.filter(({ live }) => live.length === 0)) removeQuietly(file);
      for (const group of groupsOf(thin.filter(({ live }) => live.length > 0))) merge(group);
    },
    drop: removeQuietly,
  };

  function write(builder: ChunkBuilder): TaskChunk | undefined {
    if (!isWritable) return undefined;
    const { meta, sections } = builder.finish();
    const written = writeSections(newFile(), by, meta, sections);
    isWritable = written !== undefined;
    return written && readChunk(written);
  }

  /** Names increase, so the newest rows come last. */
  function newFile(): string {
    const last = indexFiles(folder, PREFIX).sort().at(-1);
    const number = Number(last?.slice(PREFIX.length) ?? 0) + 1;
    return path.join(folder, PREFIX + String(number).padStart(8, '0'));
  }

  function inMemory(builder: ChunkBuilder): TaskChunk {
    const { meta, sections } = builder.finish();
    return readChunk(sectionsInMemory(meta, sections))!;
  }

  /**
   * Groups whose live rows fit into one chunk; a chunk alone is left out unless it is mostly dead.
   */
  function groupsOf(thin: readonly StoredChunk[]): StoredChunk[][] {
    const groups: StoredChunk[][] = [];
    let rows = Infinity;
    for (const each of thin) {
      if (rows + each.live.length > chunkRows) groups.push([]);
      rows = groups.at(-1)!.length === 0 ? 0 : rows;
      rows += each.live.length;
      groups.at(-1)!.push(each);
    }
    return groups.filter((group) => group.length > 1 || group[0]!.live.length < group[0]!.chunk.rows * 0.75);
  }

  function merge(group: readonly StoredChunk[]): void {
    const builder = chunkBuilder();
    if (!group.every(({ chunk, live }) => builder.copy(chunk, live))) return;
    const merged = write(builder);
    if (merged === undefined) return;
    for (const { file } of group) removeQuietly(file);
  }
}
