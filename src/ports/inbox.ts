/**
 * Messages from outside. Each line of `inbox/*.jsonl` is returned until it is done and never again,
 * even after a crash or when its file is truncated, rotated or rewritten. Task ids are derived from
 * the line, so no line becomes two tasks and none is skipped.
 */
import type { Mail } from '../domain/coordination/mail.js';
import type { Problem } from '../domain/problem.js';

interface Taken {
  /** Every line that is not done, in file order. */
  mail: Mail[];
  /** Unreadable lines and files, each reported once per process. */
  problems: Problem[];
}

export interface Inbox {
  /** Reads the files whose stamp changed. */
  take(): Promise<Taken>;
  /** Marks mail that became tasks, and skips bad lines. Durable when resolved; idempotent. */
  done(mail: readonly Mail[]): Promise<void>;
  /**
   * Appends a line to `inbox/<file>`, which is created if missing. Durable when resolved. Throws a
   * ProblemError for an invalid name.
   */
  append(file: string, line: Record<string, unknown>): Promise<void>;
  /** Every readable line and whether it was taken; for display. */
  all(): Promise<(Mail & { taken: boolean })[]>;
}
