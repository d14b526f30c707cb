/**
 * Whether the last look at something is recent enough. Where rings are heard, a look stays fresh
 * until one comes, so that a process asks only if there may be something new.
 */
import type { Ledger, Topic } from '../../ports/ledger.js';

export interface Freshness {
  /** A look begins. */
  began(): void;
  /** It has ended: everything acknowledged before it began is known. */
  ended(): void;
  /** Whether the last look is younger than this, or nobody rang since. */
  isFresh(maxAgeMs: number): boolean;
  /** From now on rings are heard. */
  listen(): Promise<void>;
}

/** A ring may be lost, so even without one a look does not stay fresh for longer. */
const MAX_SILENCE_MS = 1000;

export function freshness(ledger: Pick<Ledger, 'onRing'>, topic: Topic, monotonicMs: () => number): Freshness {
  let beganAt = -Infinity;
  let lookedAt = -Infinity;
  let isRung = false;
  let isListening = false;
  let listening: Promise<unknown> | undefined;
  return {
    began() {
      beganAt = monotonicMs();
      isRung = false;
    },
    ended: () => void (lookedAt = beganAt),
    isFresh(maxAgeMs) {
      const ageMs = monotonicMs() - lookedAt;
      const isSilent = isListening && !isRung && maxAgeMs > 0;
      return ageMs < (isSilent ? Math.max(maxAgeMs, MAX_SILENCE_MS) : maxAgeMs);
    },
    async listen() {
      listening ??= ledger.onRing(() => void (isRung = true), [topic]);
      await listening;
      isListening = true;
    },
  };
}
