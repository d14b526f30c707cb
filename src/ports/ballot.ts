/**
 * The file in which a human answers approvals. It is a view and a form, not the authority: requests
 * are tasks, and an entry without an open task does not count.
 */
import type { Answer, Approval, Fate } from '../domain/task/approval.js';
import type { Problem } from '../domain/problem.js';

export interface BallotReading {
  /** One for each open approval with an unambiguous answer. */
  answers: { id: string; answer: Omit<Answer, 'at'> }[];
  /** Approvals whose entry a person removed, which rejects them; confirmed by a second look. */
  withdrawn: string[];
  /** Forged, duplicate, malformed, contradictory or changed entries, each reported once. */
  problems: Problem[];
}

export interface Ballot {
  /**
   * Call it before an unsandboxed command, and the returned function afterwards: marks made in
   * between do not count.
   */
  expose(): () => void;
  /** Ids of entries that do not show their fate yet. */
  unsettled(): string[];
  /** Answers since the last `show`. Cheap if the file did not change. */
  read(open: readonly Approval[]): BallotReading;
  /**
   * Updates the file: adds new approvals, marks answered ones and shows their fate. Text that a
   * person wrote stays unchanged byte for byte. Durable when resolved. `fates`: by approval id.
   * Returns new problems: the file has a limit, and requests beyond it wait.
   */
  show(open: readonly Approval[], ended: readonly Approval[], fates: ReadonlyMap<string, Fate>): Promise<Problem[]>;
  /**
   * After `read` or `show`: the time until it must be called again, because a person may be saving
   * the file now; undefined if nothing is left to do.
   */
  dueMs(use: 'read' | 'write'): number | undefined;
}
