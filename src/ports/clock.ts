/** Time and randomness, as ports so that tests control both. */
export interface Clock {
  /** Wall time for people and records. */
  now(): Date;
  /** Monotonic milliseconds, for durations and time-outs. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Unique ids: random in production, counted in tests. */
export interface Ids {
  /** A short `[a-z0-9]` text, unique in this workspace. */
  next(): string;
}
