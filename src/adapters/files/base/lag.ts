/** Calls `wake` when files that may be written later are due: after `ms`, or as a test decides. */
export type Lag = (wake: () => void, ms: number) => void;

/** The timer keeps the process alive, even if the workspace is never closed. */
export function shortLag(wake: () => void, ms: number): void {
  setTimeout(wake, ms);
}
