/**
 * Waiting for a ring, or for a time to pass. Between two rings lie a few hundred microseconds where work is quick, so nothing is made and
 * taken down for each of them: one sleep of the clock goes on until it is over, however often somebody rings.
 */
import type { Clock } from '../../ports/clock.js';

export interface Alarm {
  /** Ends the wait that is on, or the next one. */
  ring(): void;
  isRung(): boolean;
  /** True: it was rung since the last wait. False: `ms` have passed. */
  wait(ms: number): Promise<boolean>;
  /** No sleep goes on after this. */
  off(): void;
}

export function alarm(clock: Clock): Alarm {
  const end = new AbortController();
  let rung = false;
  let wake: (() => void) | undefined;
  /** When the sleeps that go on are over: one, and a shorter one now and then. */
  const asleep = new Set<number>();

  return {
    ring() {
      rung = true;
      wake?.();
    },
    isRung: () => rung,
    async wait(ms) {
      const until = clock.monotonicMs() + ms;
      for (;;) {
        if (rung || clock.monotonicMs() >= until) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
          sleep(until);
        });
        wake = undefined;
      }
      const wasRung = rung;
      rung = false;
      return wasRung;
    },
    off: () => end.abort('off'),
  };

  function sleep(until: number): void {
    for (const other of asleep) if (other <= until) return;
    asleep.add(until);
    void clock.sleep(until - clock.monotonicMs(), end.signal).then(() => {
      asleep.delete(until);
      wake?.();
    });
  }
}
