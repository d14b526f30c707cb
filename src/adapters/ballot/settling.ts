/**
 * How long the ballot has been unchanged, and whether it was seen before in the same state. A
 * person may be saving it: a half-saved file must not be acted on, and never be replaced.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { changedAt } from '../../domain/stamp.js';
import type { Clock } from '../../ports/clock.js';

interface Settling {
  quietMs(stamp: string): number;
  /**
   * Call it at each look that finds these ids missing. Returns the time until they count as
   * removed; 0 if they already do.
   */
  confirmMs(stamp: string, missing: readonly string[]): number;
}

/** `isTimed`: false in a recorded run, which must not depend on how long anything takes. */
export function settling(clock: Clock, isTimed: boolean): Settling {
  let last: { stamp: string; since: number; missing?: { ids: string; at: number } } | undefined;

  function observe(stamp: string): NonNullable<typeof last> {
    return last?.stamp === stamp ? last : (last = { stamp, since: clock.monotonicMs() });
  }

  /** The wall clock may be wrong, so time that this process saw pass counts too. */
  function quietMs(stamp: string): number {
    const { since } = observe(stamp);
    if (!isTimed) return Infinity;
    const age = clock.now().getTime() - Number(changedAt(stamp) / 1_000_000n);
    return Math.max(age, clock.monotonicMs() - since);
  }

  return {
    quietMs,
    confirmMs(stamp, missing) {
      const seen = observe(stamp);
      const ids = missing.join('\n');
      const now = clock.monotonicMs();
      if (!isTimed) return 0;
      if (seen.missing?.ids !== ids) seen.missing = { ids, at: now };
      return Math.max(0, INTERVALS.ballotSavingMs - quietMs(stamp), seen.missing.at + INTERVALS.ballotLooksMs - now);
    },
  };
}
