/**
 * Runs a read whose failure has an answer of its own: a file that is gone, text that is not JSON.
 * Not for failures that somebody must hear about.
 */
export function attempt<T>(read: () => T): T | undefined;
export function attempt<T, F>(read: () => T, fallback: F): T | F;
export function attempt<T, F>(read: () => T, fallback?: F): T | F | undefined {
  try {
    return read();
  } catch {
    return fallback;
  }
}
