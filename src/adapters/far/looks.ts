/**
 * The live entries as this process knows them: each look brings the changes since the last one.
 * Concurrent callers share a look, and an older answer cannot revive an entry that was seen to end.
 */
import type { Entry, Ledger } from '../../ports/ledger.js';
import type { Cell } from './batch.js';
import { freshness, type Freshness } from './freshness.js';
import { remember } from './remember.js';

/** The part of a store that keeps one kind of live entries in memory. */
interface Learner {
  /** The beginning of the keys of this kind. */
  readonly prefix: string;
  /** Never called with a revision older than the entry's end. */
  learn(entry: Entry): void;
  /** Keys of the entries that are live as far as this process knows. */
  keys(): Iterable<string>;
  /** The entry is no longer live, and this process has not seen it end. */
  forget(key: string): void;
  /** Changes of entries that are not live may have been missed. */
  missed?(): void;
}

type News = Awaited<ReturnType<Ledger['news']>>;

/** The changes of one kind of entries that looks brought. */
export interface Heard {
  /** Whether there is nothing to take. */
  isEmpty(): boolean;
  /** Everything since the last call. `isComplete`: changes may have been missed. */
  take(): News;
}

export interface Looks extends Pick<Freshness, 'isFresh' | 'listen'> {
  add(learner: Learner): void;
  /** Collects the changes of entries with these keys. */
  collect(prefix: string): Heard;
  /** When it resolves, everything acknowledged to any process before the call is known. */
  look(): Promise<void>;
  /** How many looks brought changes by other processes. */
  learned(): number;
  /** Takes over an entry that was read by its key. */
  learn(entry: Entry): void;
  /** A change of this process was acknowledged: answers to earlier looks may be older. */
  acknowledged(cell: Cell, live: boolean): void;
}

/**
 * The number of remembered ends and own changes. Answers older than all of these have arrived by
 * now.
 */
const MAX_REMEMBERED = 10_000;

export function looks(ledger: Ledger, monotonicMs: () => number): Looks {
  const learners = new Map<string, Learner>();
  const ends = new Map<string, number>();
  /** The last revision that this process wrote. */
  const own = new Map<string, number>();
  let learned = 0;
  /** Acknowledged since the current look began. */
  const recent = new Set<string>();
  let current: Promise<void> | undefined;
  let following: Promise<void> | undefined;
  const fresh = freshness(ledger, 'work', monotonicMs);
  return {
    add: (learner) => void learners.set(learner.prefix, learner),
    collect(prefix) {
      let news: News = { entries: [], isComplete: true };
      learners.set(prefix, {
        prefix,
        learn: (entry) => void news.entries.push(entry),
        keys: () => [],
        forget: () => undefined,
        missed: () => void (news = { ...news, isComplete: true }),
      });
      return {
        isEmpty: () => news.entries.length === 0 && !news.isComplete,
        take() {
          const taken = news;
          news = { entries: [], isComplete: false };
          return taken;
        },
      };
    },
    look,
    isFresh: fresh.isFresh,
    listen: fresh.listen,
    learned: () => learned,
    learn,
    acknowledged({ key, rev }, live) {
      remember(own, key, rev, MAX_REMEMBERED);
      if (!live) remember(ends, key, rev, MAX_REMEMBERED);
      if (current !== undefined) recent.add(key);
    },
  };

  /** The current look may miss what was just acknowledged, so a second look follows. */
  function look(): Promise<void> {
    if (current === undefined) {
      current = once().finally(() => (current = undefined));
      return current;
    }
    following ??= current
      .catch(() => undefined)
      .then(() => {
        following = undefined;
        return look();
      });
    return following;
  }

  async function once(): Promise<void> {
    recent.clear();
    fresh.began();
    const { entries, isComplete } = await ledger.news();
    for (const entry of entries) learn(entry);
    if (entries.some(({ key, rev }) => own.get(key) !== rev)) learned++;
    fresh.ended();
    if (!isComplete) return;
    const live = new Set(entries.map(({ key }) => key));
    for (const learner of learners.values()) learner.missed?.();
    for (const learner of learners.values())
      for (const key of [...learner.keys()]) if (!live.has(key) && !recent.has(key)) learner.forget(key);
  }

  function learn(entry: Entry): void {
    const { key, rev, live } = entry;
    if (rev <= (ends.get(key) ?? 0)) return;
    if (!live) remember(ends, key, rev, MAX_REMEMBERED);
    learners.get(key.slice(0, key.indexOf('/') + 1))?.learn(entry);
  }
}
