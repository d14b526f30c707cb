/** The system clock and random ids. */
import { randomFillSync } from 'node:crypto';
import type { Clock, Ids } from '../../ports/clock.js';

export function clock(): Clock {
  return {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const timer = setTimeout(done, Math.min(Math.max(ms, 0), LONGEST_MS));
        signal?.addEventListener('abort', done, { once: true });
        function done(): void {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        }
      }),
  };
}

/**
 * A longer timer would fire at once. Callers look at the time when they wake. For a negative time,
 * newer versions of Node print a warning.
 */
const LONGEST_MS = 2 ** 31 - 1;

const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyz';

const ID_LENGTH = 10;
/** One system call provides a hundred ids. */
const POOL_BYTES = 100 * ID_LENGTH;

/** Ten characters of base 36: 51 bits, so that two machines practically never pick the same id. */
export function ids(): Ids {
  const bytes = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return {
    next: () => {
      if (used + ID_LENGTH > POOL_BYTES) {
        randomFillSync(bytes);
        used = 0;
      }
      let text = '';
      for (const end = used + ID_LENGTH; used < end; used++) text += LETTERS[bytes[used]! % 36];
      return text;
    },
  };
}
