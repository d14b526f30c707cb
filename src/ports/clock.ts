/** Time and chance, behind one door, so that tests own both. */
export interface Clock {
  /** Wall time for people and records. */
  now(): Date;
  /** Milliseconds that never jump; for durations and time-outs. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Fresh names. Random in life, counted in tests. */
export interface Ids {
  /** A short text of `[a-z0-9]` that was never returned before in this workspace. */
  next(): string;
}
