/**
 * Whether the last look at something is recent enough. While this process listens for rings, a look
 * stays fresh until one comes, so the ledger is asked only if there may be something new. A ring
 * may be late: a look also stops being fresh when this process learns in another way of a later
 * change by another process, because that change may depend on something that this one has not seen
 * yet.
 */
import type { Ledger, Topic } from '../../ports/ledger.js';

export interface Freshness {
  began(): void;
  /** A look has ended: everything acknowledged before it began is known. */
  ended(): void;
  /** Whether the last look is younger than this, or no ring has come since. */
  isFresh(maxAgeMs: number): boolean;
  listen(): Promise<void>;
}

/** A ring may be lost, so even without one a look does not stay fresh for longer. */
const MAX_SILENCE_MS = 1000;

/** `learned`: how often this process learned of other processes' changes in another way. */
export function freshness(
  ledger: Pick<Ledger, 'onRing'>,
  topic: Topic,
  monotonicMs: () => number,
  learned: () => number = () => 0,
): Freshness {
  let rings = 0;
  /** The last look that began and the last one that ended: the time and the counts at its start. */
  let begun = { at: -Infinity, rings: 0, learned: 0 };
  let last = begun;
  let isListening = false;
  let listening: Promise<unknown> | undefined;
  return {
    began: () => void (begun = { at: monotonicMs(), rings, learned: learned() }),
    ended: () => void (last = begun),
    isFresh(maxAgeMs) {
      if (learned() !== last.learned) return false;
      const ageMs = monotonicMs() - last.at;
      const isSilent = isListening && rings === last.rings && maxAgeMs > 0;
      return ageMs < (isSilent ? Math.max(maxAgeMs, MAX_SILENCE_MS) : maxAgeMs);
    },
    async listen() {
      listening ??= ledger.onRing(() => void rings++, [topic]);
      await listening;
      isListening = true;
    },
  };
}
