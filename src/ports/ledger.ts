/**
 * The few calls that the store for several machines rests on: entries that change by
 * compare-and-swap, logs that grow at their end, and one commit for both. Like `Disk` for the
 * files, it is the port that tests replace: to lose, delay, repeat and cut off answers.
 */

// Every sentence here has a test in `test/contract/ledger.ts`. Revisions and places in logs are
// opaque: take them from answers and never compute the next one. Calls are retried internally while
// the connection is bad; when that takes too long, they throw a ProblemError with the code
// `store_away`, and the fate of the call is unknown.

/** A value under a key, as one commit left it. */
export interface Entry {
  readonly key: string;
  /** If one commit starts after another was acknowledged, its revisions are greater. */
  readonly rev: number;
  /** Empty: the value was removed. */
  readonly value: string;
  readonly live: boolean;
}

export interface Put {
  readonly key: string;
  readonly value: string;
  /** The revision it must have; 0: the key was never used; absent: any. */
  readonly expect?: number;
  /** Whether every peer keeps it in memory. Other entries are kept for `get` and `list` only. */
  readonly live: boolean;
  /** Replaces the label of the entry, by which `list` and `atMost` select; absent: none. */
  readonly tag?: string;
  /** Refuses the put if this many other live entries have the tag. Exact among all peers. */
  readonly atMost?: number;
}

export interface Add {
  readonly log: string;
  readonly text: string;
  /** The place where the log must end; 0: it must be empty; absent: anywhere. */
  readonly expect?: number;
  /** A label of the line, by which `lines` selects. */
  readonly tag?: string;
}

/**
 * The processes that a change concerns. work: those that take tasks, because there may be something
 * to do. notes: those that follow channels. views: only those that show the progress of others.
 */
export type Topic = 'work' | 'notes' | 'views';

/** The changes of one step. */
export interface Change {
  readonly puts: readonly Put[];
  readonly adds: readonly Add[];
  /** Whom it wakes; absent: everyone. */
  readonly topics?: readonly Topic[];
}

export interface Committed {
  /** The new revision of each put, in order. Undefined: refused, and the entry is unchanged. */
  readonly puts: readonly (number | undefined)[];
  /** Where each add's log ends now, in order. Undefined: refused, and the log is unchanged. */
  readonly adds: readonly (number | undefined)[];
}

export interface Lines {
  readonly texts: readonly string[];
  /** The place after the last of these lines; without lines, the place that was given. */
  readonly end: number;
}

export interface Ledger {
  /**
   * Carries out a change in one step that others see as a whole or not at all. Each put and add
   * succeeds or fails alone; later ones see earlier ones. Durable when resolved. `guard`: a key;
   * unless its entry is live, nothing is written and the answer is `fenced`. `id` must be unique to
   * this change: the same id again changes nothing and gets the first answer.
   */
  commit(id: string, change: Change, guard?: string): Promise<Committed | 'fenced'>;
  /** The entry as it is now, for every peer. Undefined: the key was never used. */
  get(key: string): Promise<Entry | undefined>;
  /**
   * At the first call, and after the ledger was away, every live entry (`isComplete`); otherwise
   * the entries that changed since the last call, even if they are no longer live. Nothing
   * acknowledged to any peer before the call is missed. An entry may come again.
   */
  news(): Promise<{ entries: Entry[]; isComplete: boolean }>;
  /**
   * Entries whose keys have this prefix, the last changed first. `containing`: only those whose
   * value has this text in it, and perhaps more. `before`: only those with smaller revisions, so
   * that many entries can be read in pages.
   */
  list(
    prefix: string,
    options?: { tag?: string; live?: boolean; containing?: string; before?: number; limit?: number },
  ): Promise<Entry[]>;
  /** The number of entries with this label. Reads none of them. */
  count(tag: string): Promise<number>;
  /**
   * The lines after a place, or all, oldest first. `first`: only this many of the oldest. `last`:
   * only this many of the newest of these.
   */
  lines(log: string, options?: { after?: number; tag?: string; first?: number; last?: number }): Promise<Lines>;
  /**
   * Logs with one of these prefixes that grew since `mark`, or all that exist. The returned mark is
   * for the next call. Misses no line acknowledged before; a log may come again.
   */
  grown(prefixes: readonly string[], mark?: string): Promise<{ logs: string[]; mark: string }>;
  /**
   * Like `grown`, together with the lines of these logs: those after `ends`, or all of them.
   * Everything is from one moment.
   */
  newLines(
    prefixes: readonly string[],
    since: { mark?: string | undefined; ends: ReadonlyMap<string, number> },
  ): Promise<{ logs: ReadonlyMap<string, Lines>; mark: string }>;
  /**
   * Calls back when something may have changed that concerns one of these topics; absent: any. Only
   * a hint: rings may be lost or come twice.
   */
  onRing(ring: () => void, topics?: readonly Topic[]): Promise<() => Promise<void>>;
  /** Wakes the other peers soon. Every commit that changes something rings, too. */
  ring(): void;
  /**
   * The process is about to end: calls that get no answer fail with `store_away` after about a
   * second, instead of a minute.
   */
  hasten(): void;
  /** Waits for calls under way and closes the connection. */
  close(): Promise<void>;
}
