/**
 * Lets agents query work with the same language that people use, and change a few things on boards.
 */
import type { Problem } from '../domain/problem.js';

interface QueryRows {
  rows: Record<string, unknown>[];
  /** Number of unreadable board entries that were left out. */
  leftOut: number;
  /** Outside sources of the tasks and bullets that the rows are about. */
  taint: string[];
}

export interface BoardChange {
  status?: 'completed' | 'failed' | 'skipped' | 'in_progress' | 'open';
  note?: string;
  priority?: 'A' | 'B' | 'C' | 'D';
  fields?: Record<string, string | number | boolean | null>;
}

export interface BoardTools {
  /** SELECT only, from `tasks`, `sessions`, `agents`, `events` or a board. */
  select(query: string): Promise<QueryRows | Problem>;
  /**
   * Changes the bullet with this id on any board, except approvals, people's own bullets and tasks
   * under way. Idempotent. Returns the place and title of the bullet. `taint`: the sources that
   * influenced the agent; the task that the bullet becomes gets them too.
   */
  change(by: string, id: string, change: BoardChange, taint: readonly string[]): Promise<string | Problem>;
}
