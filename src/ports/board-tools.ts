/** Where agents look work up and change what boards say about it: the same queries that people have, and far fewer changes. */
import type { Problem } from '../domain/problem.js';

interface DeskRows {
  rows: Record<string, unknown>[];
  /** Entries of a board that were left out because they cannot be read. */
  leftOut: number;
}

export interface BoardChange {
  status?: 'completed' | 'failed' | 'skipped' | 'in_progress' | 'open';
  note?: string;
  priority?: 'A' | 'B' | 'C' | 'D';
  fields?: Record<string, string | number | boolean | null>;
}

export interface BoardTools {
  /** SELECT only, from `tasks`, `sessions`, `agents`, `events` or a board. The Problem says what to do instead. */
  select(query: string): Promise<DeskRows | Problem>;
  /**
   * Changes the bullet with this id, on whichever board it stands. Never the ballot, never an approval, never what a person
   * does, never what somebody is working on. Harmless twice. The place and title of the bullet, as text.
   */
  change(by: string, id: string, change: BoardChange): Promise<string | Problem>;
}
