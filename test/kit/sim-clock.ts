/**
 * A clock that a test owns. By default time does not move until `advance`; with `auto` every sleep
 * moves it at once, so that code with long waits runs instantly. `slept` lists the waits.
 */
import type { Clock } from '../../src/ports/clock.js';

export interface SimClock extends Clock {
  /** Moves time and wakes the sleepers that are due, in order. */
  advance(ms: number): Promise<void>;
  /** All requested sleeps. */
  readonly slept: number[];
}

export function simClock(options: { auto?: boolean; start?: string } = {}): SimClock {
  const start = Date.parse(options.start ?? '2026-01-01T00:00:00.000Z');
  let elapsed = 0;
  let sleepers: { at: number; wake: () => void }[] = [];
  const slept: number[] = [];

  return {
    slept,
    now: () => new Date(start + elapsed),
    monotonicMs: () => elapsed,
    sleep(ms, signal) {
      slept.push(ms);
      if (signal?.aborted) return Promise.resolve();
      if (options.auto) {
        elapsed += ms;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const sleeper = { at: elapsed + ms, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((one) => one !== sleeper);
          resolve();
        });
      });
    },
    async advance(ms) {
      const end = elapsed + ms;
      for (;;) {
        const next = sleepers.filter((one) => one.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        sleepers = sleepers.filter((one) => one !== next);
        elapsed = Math.max(elapsed, next.at);
        next.wake();
        // Let the woken code run, and perhaps sleep again, before time moves on.
        await new Promise(setImmediate);
      }
      elapsed = end;
      await new Promise(setImmediate);
    },
  };
}
