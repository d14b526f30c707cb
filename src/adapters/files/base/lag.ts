/** Calls `wake` when files that may follow are to be written. */
export type Lag = (wake: () => void) => void;

const LAG_MS = 25;

/** The timer keeps the process alive, even if the workspace is never closed. */
export function shortLag(wake: () => void): void {
  setTimeout(wake, LAG_MS);
}
