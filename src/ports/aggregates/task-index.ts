/**
 * Lists the ended tasks without reading each record. The index behind it is a cache: it is compared
 * with the files on every look, and the files are the source of truth.
 */
import type { Problem } from '../../domain/problem.js';
import type { EndedState, Placed } from '../../domain/task/task.js';

export interface TaskIndex {
  /** Compares every record with the index and reads those that changed. */
  look(): EndedTasks;
  /** The newest first, by the time of the last write. Each is read when it is asked for. */
  newest(state?: EndedState): Iterable<Placed | Problem>;
}

export interface EndedFile {
  /** Relative to the workspace. */
  file: string;
  state: EndedState;
}

/** A snapshot of the ended tasks, newest first. */
export interface EndedTasks {
  /** The number of records that can be read. */
  readonly size: number;
  /** The keys of all rows, in the order in which rows first have them. */
  columns(): string[];
  /**
   * All rows. Each has at least those of these keys that its record has. A record is opened only
   * for a value that the index lacks.
   */
  rows(keys: readonly string[]): Iterable<EndedRow>;
  /** One problem for each record that cannot be read. */
  problems(): Iterable<Problem>;
}

interface EndedRow {
  row: Record<string, unknown>;
  /** Reads the record. Undefined if it is gone or can no longer be read. */
  read(): Placed | undefined;
}
