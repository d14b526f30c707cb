/**
 * Files follow from the journal: a queue of the files whose lines are written and whose names are
 * not there yet. A file is placed once its line is durable: at once if somebody waits for it, and
 * otherwise when it is due. It is due a fixed time after its first change that has no file yet,
 * however often it changes, and a sync that other files wait for does not hold it back. A file that
 * changes while it waits is placed once, in its last state.
 */
import { StoreFailed } from '../../../domain/fence.js';
import type { Lag } from '../base/lag.js';
import type { Journal } from '../journal/journal.js';
import type { Execute, Operation, Placing } from './operation.js';

/** A queued write of a file. */
export interface Item extends Operation {
  readonly key: string;
  /** The number of the journal line that must be durable first. */
  line: number;
  /** Writes the file in another way than under a new name. */
  perform?(): void;
  /** Called when the file has its name, or cannot have it. True: place it again, as it is now. */
  done(placing: Placing): boolean | void;
}

export interface Placer {
  get(key: string): Item | undefined;
  /** Queues a new item, which is placed when it is due. */
  put(item: Item): void;
  /**
   * Resolves when this item is placed, which happens as soon as its line is durable. `isAlone`:
   * items before it in the queue may come later.
   */
  placed(item: Item, options?: { isAlone?: boolean }): Promise<Placing>;
  /** Resolves when everything queued so far is placed. */
  flush(): Promise<void>;
  /** If files are far behind: resolves when everything that is due now is placed. */
  catchUp(): Promise<void> | undefined;
  /** The longest that any item has waited. */
  worstLagMs(): number;
}

interface Queued {
  item: Item;
  /** Its number in the queue. */
  at: number;
  since: number;
  waiting: { resolve: (placing: Placing) => void; reject: (thrown: unknown) => void }[];
}

interface PlacerOptions {
  journal: Pick<Journal, 'durable' | 'isDurable'>;
  execute: Execute;
  monotonicMs: () => number;
  lag: Lag;
}

/**
 * A file that nobody waits for is due at this age, because it may change again until then. Readers
 * see it within 50 ms; the time left covers a late timer, a sync and the files before it.
 */
const DUE_MS = 15;
/** Files that are this much younger are placed with it: one batch costs less than two. */
const SHARED_MS = 8;
/** While files are further behind than this, no new task is claimed. */
const MAX_LAG_MS = 500;
/** How often in a row it tries to free the name that a file needs. */
const MAX_TRIES = 3;

export function placer({ journal, execute, monotonicMs, lag }: PlacerOptions): Placer {
  /** In the order of their numbers, which is also the order of their ages. */
  const queue = new Map<string, Queued>();
  const awaited = new Set<Queued>();
  let count = 0;
  /** Files up to this number come before a file that somebody waits for. */
  let orderedUntil = 0;
  /** Files queued until this time are due; set when the lag ends. */
  let dueUntil = -Infinity;
  /** The file for which the lag was started, while it runs. */
  let armedFor: Queued | undefined;
  let catchingUp: Promise<void> | undefined;
  let isDraining = false;
  let isSyncing = false;
  let worst = 0;
  let failure: StoreFailed | undefined;

  return {
    get: (key) => queue.get(key)?.item,
    put(item) {
      if (failure !== undefined) throw failure;
      queue.set(item.key, { item, at: ++count, since: monotonicMs(), waiting: [] });
      placeLater();
    },
    placed: (item, { isAlone = false } = {}) => placed(queue.get(item.key)!, isAlone),
    async flush() {
      if (failure !== undefined) throw failure;
      const last = [...queue.values()].at(-1);
      if (last !== undefined) await placed(last, false);
    },
    catchUp() {
      const [first] = queue.values();
      if (first === undefined || monotonicMs() - first.since <= MAX_LAG_MS) return undefined;
      catchingUp ??= placeOverdue().finally(() => (catchingUp = undefined));
      return catchingUp;
    },
    worstLagMs: () => worst,
  };

  function placed(queued: Queued, isAlone: boolean): Promise<Placing> {
    if (!isAlone) orderedUntil = Math.max(orderedUntil, queued.at);
    awaited.add(queued);
    const placing = new Promise<Placing>((resolve, reject) => void queued.waiting.push({ resolve, reject }));
    void drain();
    return placing;
  }

  /** All due files come before the youngest of them. */
  async function placeOverdue(): Promise<void> {
    const until = monotonicMs() - DUE_MS;
    let last: Queued | undefined;
    for (const queued of queue.values()) {
      if (queued.since > until) break;
      last = queued;
    }
    if (last !== undefined) await placed(last, false);
  }

  function placeLater(): void {
    const [first] = queue.values();
    if (first === undefined || armedFor !== undefined || failure !== undefined) return;
    const ms = first.since + DUE_MS - monotonicMs();
    if (ms <= 0) return void drain();
    armedFor = first;
    lag(() => {
      armedFor = undefined;
      // It was placed meanwhile, and the other files are younger.
      if (queue.get(first.item.key) !== first) return placeLater();
      dueUntil = first.since + SHARED_MS;
      void drain();
    }, ms);
  }

  /** Places what is durable, also while a sync is under way. The rest follows after the sync. */
  async function drain(): Promise<void> {
    if (isDraining) return;
    isDraining = true;
    // Everything that is added in this turn of the event loop shares the sync.
    await Promise.resolve();
    isDraining = false;
    try {
      if (failure !== undefined) throw failure;
      let line = placeDurable();
      if (isSyncing) return;
      for (isSyncing = true; line !== undefined; line = placeDurable()) await journal.durable(line);
    } catch (thrown) {
      fail(thrown);
    }
    isSyncing = false;
    placeLater();
  }

  /** Returns the first line that a file must wait for; undefined if nothing more is due. */
  function placeDurable(): number | undefined {
    let first: number | undefined;
    for (const queued of due()) {
      const { line } = queued.item;
      if (!journal.isDurable(line)) first = Math.min(first ?? line, line);
      else if (first === undefined || !comesAfterOthers(queued)) place(queued);
    }
    return first;
  }

  /** Somebody waits for it and for all items before it. */
  function comesAfterOthers(queued: Queued): boolean {
    return queued.at <= orderedUntil && awaited.has(queued);
  }

  /** Files that are old enough, and files that somebody waits for, with all files before them. */
  function* due(): Iterable<Queued> {
    const until = Math.max(dueUntil, monotonicMs() - DUE_MS);
    for (const queued of queue.values()) {
      if (queued.since > until && queued.at > orderedUntil) break;
      yield queued;
    }
    for (const queued of awaited) if (queued.since > until && queued.at > orderedUntil) yield queued;
  }

  function place(queued: Queued): void {
    const { item, since, waiting } = queued;
    let placing = perform(item);
    for (let tries = 1; item.done(placing) === true; tries++) {
      if (tries === MAX_TRIES) throw new Error(`${item.to} cannot be moved out of the way`);
      placing = perform(item);
    }
    worst = Math.max(worst, monotonicMs() - since);
    queue.delete(item.key);
    awaited.delete(queued);
    for (const { resolve } of waiting) resolve(placing);
  }

  function perform(item: Item): Placing {
    if (item.perform === undefined) return execute(item);
    item.perform();
    return { kind: 'placed', stamp: undefined };
  }

  function fail(thrown: unknown): void {
    failure ??= thrown instanceof StoreFailed ? thrown : new StoreFailed('files cannot be written', thrown);
    for (const { waiting } of queue.values()) for (const { reject } of waiting) reject(failure);
  }
}
