/**
 * Runs a read whose failure is an expected outcome, such as a missing file or text that is not
 * JSON. Do not use it for failures that must be reported.
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
