/**
 * Waits for a condition, never for a fixed time. The limits exist so that a failure is reported
 * before the whole run times out; a working machine stays far below them.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 180_000;

/** The journal writes its lines at the end of each turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Polls until there is a value and returns it. */
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
 * For attempts that a timer cuts off: on a busy machine the cut may come too early, so the attempt
 * is repeated with more time until `isFar` accepts it. The caller checks the result.
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
