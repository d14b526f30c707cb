/** The system clock and random ids. */
import { randomBytes } from 'node:crypto';
import type { Clock, Ids } from '../../ports/clock.js';

export function clock(): Clock {
  return {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const timer = setTimeout(done, Math.min(ms, LONGEST_MS));
        signal?.addEventListener('abort', done, { once: true });
        function done(): void {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        }
      }),
  };
}

/** A longer timer would fire at once. Callers look at the time when they wake. */
const LONGEST_MS = 2 ** 31 - 1;

const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyz';

/** Ten characters of base 36: 51 bits, so that two machines practically never pick the same id. */
export function ids(): Ids {
  return {
    next: () => {
      let text = '';
      for (const byte of randomBytes(10)) text += LETTERS[byte % 36];
      return text;
    },
  };
}
