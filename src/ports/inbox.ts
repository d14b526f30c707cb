/**
 * Messages from outside. Each line of `inbox/*.jsonl` is handed out until it is done, and never after that: not after a
 * crash, not when its file was truncated, rotated or written anew with old lines in it. Together with a task id that
 * follows from the line itself, no line becomes two tasks and none is passed over.
 */
import type { Mail } from '../domain/coordination/mail.js';
import type { Problem } from '../domain/problem.js';

interface Taken {
  /** Every line that is not done, in the order of its file. */
  mail: Mail[];
  /** Lines and files that cannot be read, each told once by this process. */
  problems: Problem[];
}

export interface Inbox {
  /** Looks at the stamps of the files and reads those that changed. Costs nothing more while nothing did. */
  take(): Promise<Taken>;
  /** These have become tasks. Durable when resolved; harmless twice. Call it also with none, so that bad lines are left behind. */
  done(mail: readonly Mail[]): Promise<void>;
  /** Adds a line to `inbox/<file>`, made if it is missing. Durable when resolved. Throws a ProblemError for a name that is none. */
  append(file: string, line: Record<string, unknown>): Promise<void>;
  /** Every readable line there is, for people who ask, and whether it was taken. */
  all(): Promise<(Mail & { taken: boolean })[]>;
}
