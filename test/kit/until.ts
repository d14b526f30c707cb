/**
 * Waiting in tests: for a condition, never for a time. The limits are there so that a broken promise is told before the whole run is
 * given up; no working machine comes near them, however busy.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 600_000;

/** Looks until there is something, and gives that. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`still not so after ${LIMIT_MS / 1000} s: ${String(look)}`);
    await sleep(20);
  }
}

/**
 * For what is cut off by a clock in the middle: the attempt may come too early on a busy machine, so it is made again with more time
 * until it has got as far as `isFar` wants. What it gives is judged by the caller as ever.
 */
export async function withEnoughTime<T>(
  attempt: (ms: number) => Promise<T>,
  isFar: (result: T) => boolean,
  first = 800,
): Promise<T> {
  for (let ms = first; ; ms *= 4) {
    const result = await attempt(ms);
    if (isFar(result) || ms > LIMIT_MS / 4) return result;
  }
}
