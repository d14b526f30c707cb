/**
 * Waits for a ring or a timeout. Rings may come every few hundred microseconds, so waits do not
 * create timers: all of them share one sleep of the clock.
 */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../ports/clock.js';

interface Alarm {
  /** Ends the current wait. If nothing waits now, the next wait ends at once. */
  ring(): void;
  isRung(): boolean;
  /** Resolves to true if it was rung since the last wait, to false after `ms`. */
  wait(ms: number): Promise<boolean>;
  /** Cancels all sleeps. */
  off(): void;
}

export function alarm(clock: Clock): Alarm {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // one for each running sleep
  let rung = false;
  let wake: (() => void) | undefined;
  /** End times of the running sleeps: usually one, sometimes a shorter one as well. */
  const sleepEnds = new Set<number>();

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
    off: () => stop.abort('off'),
  };

  function sleep(until: number): void {
    for (const end of sleepEnds) if (end <= until) return;
    sleepEnds.add(until);
    void clock.sleep(until - clock.monotonicMs(), stop.signal).then(() => {
      sleepEnds.delete(until);
      wake?.();
    });
  }
}
