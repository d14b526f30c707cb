/**
 * Where a human answers by editing a file. It is a view and a form, never the authority: the requests live in tasks, and
 * an entry that no open task knows never counts.
 */
import type { Answer, Approval, Fate } from '../domain/task/approval.js';
import type { Problem } from '../domain/problem.js';

export interface BallotReading {
  /** One for each open approval that was answered clearly. */
  answers: { id: string; answer: Omit<Answer, 'at'> }[];
  /** Approvals whose entry a person removed: withdrawn, which is a rejection. */
  withdrawn: string[];
  /** Forged, doubled, malformed or changed entries, each reported once. */
  problems: Problem[];
}

export interface Ballot {
  /** Called before a command that nothing holds in, and the function it gives after it: marks that came meanwhile do not count. */
  expose(): () => void;
  /** Ids of entries whose fate is not shown yet. */
  unsettled(): string[];
  /** What people answered since the last `show`. Cheap when the file did not change. */
  read(open: readonly Approval[]): BallotReading;
  /**
   * Makes the file show these: new ones are added, answered ones get their mark and fate, everything a person wrote stays
   * byte for byte. Durable when resolved. `fates`: what became of actions, by approval id.
   */
  show(open: readonly Approval[], ended: readonly Approval[], fates: ReadonlyMap<string, Fate>): Promise<void>;
}
