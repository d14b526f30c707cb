/** Calls `wake` when the write-behind queue is to be flushed. */
export type Lag = (wake: () => void) => void;
