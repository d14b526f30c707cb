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

/**
 * A time limit for one piece of work. `AbortSignal.any` with `AbortSignal.timeout` is not one: Node
 * may collect the timeout as garbage, and then the work is never aborted.
 */
interface Deadline {
  /** Aborts with the given signal, or when the time is over. */
  signal: AbortSignal;
  /** Call it when the work has ended. */
  end(): void;
}

/** The longest time of a timer. */
const MAX_MS = 2 ** 31 - 1;

/** The timer alone does not keep the process running. */
export function deadline(ms: number, outer?: AbortSignal): Deadline {
  const own = new AbortController();
  const abort = (): void => own.abort(outer?.reason);
  const timer = setTimeout(
    () => own.abort(new DOMException('the time is over', 'TimeoutError')),
    Math.min(Math.max(1, ms), MAX_MS),
  );
  timer.unref();
  if (outer?.aborted) abort();
  else outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: own.signal,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}
