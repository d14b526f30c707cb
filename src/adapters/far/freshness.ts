/**
 * Whether the last look at something is recent enough. While this process listens for rings, a look
 * stays fresh until one comes, so that it asks only if there may be something new. A ring may be
 * late: a look is not fresh either once this process has learned of a later change by others, which
 * may depend on something it has not seen yet.
 */
import type { Ledger, Topic } from '../../ports/ledger.js';

export interface Freshness {
  /** A look begins. */
  began(): void;
  /** It has ended: everything acknowledged before it began is known. */
  ended(): void;
  /** Whether the last look is younger than this, or nobody rang since. */
  isFresh(maxAgeMs: number): boolean;
  /** Starts to listen for rings. */
  listen(): Promise<void>;
}

/** A ring may be lost, so even without one a look does not stay fresh for longer. */
const MAX_SILENCE_MS = 1000;

/** `learned`: how often this process learned of changes by others in another way. */
export function freshness(
  ledger: Pick<Ledger, 'onRing'>,
  topic: Topic,
  monotonicMs: () => number,
  learned: () => number = () => 0,
): Freshness {
  let rings = 0;
  /** The look that began last, and the last one that ended: when, and what had happened before. */
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
