/**
 * Files follow from the journal: a queue of the files whose lines are written and whose names are
 * not there yet. A file is placed once its line is durable: at once if somebody waits for it, and
 * within the lag otherwise. A file that changes while it waits is placed once, in its last state
 * and in its first place in the queue.
 */
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
  /** Queues a new item. Placed after the lag. */
  put(item: Item): void;
  /**
   * Resolves when this item is placed, which happens as soon as its line is durable. `isAlone`:
   * items before it in the queue may come later.
   */
  placed(item: Item, options?: { isAlone?: boolean }): Promise<Placing>;
  /** Resolves when everything queued so far is placed. */
  flush(): Promise<void>;
  /** How long the oldest item has been waiting. */
  lagMs(): number;
  /** The longest that any item has waited. */
  worstLagMs(): number;
}

interface Queued {
  item: Item;
  since: number;
  isAlone: boolean;
  waiting: { resolve: (placing: Placing) => void; reject: (thrown: unknown) => void }[];
}

interface PlacerOptions {
  journal: Pick<Journal, 'durable'>;
  execute: Execute;
  monotonicMs: () => number;
  lag: Lag;
}

/**
 * A file that nobody waits for is placed at this age, because it may change again until then.
 * Readers see it within 50 ms.
 */
const SETTLED_MS = 30;
/** Files that are this much younger are placed with it: one batch costs less than two. */
const SHARED_MS = 10;

export function placer({ journal, execute, monotonicMs, lag }: PlacerOptions): Placer {
  const queue = new Map<string, Queued>();
  /** The file that the lag was started for, while it runs. */
  let armedFor: Queued | undefined;
  /** Files that were queued until then are placed with the next batch. */
  let settledUntil = -Infinity;
  let draining: Promise<void> | undefined;
  let isFlushing = false;
  let worst = 0;
  let failure: { thrown: unknown } | undefined;

  return {
    get: (key) => queue.get(key)?.item,
    put(item) {
      if (failure !== undefined) throw failure.thrown;
      queue.set(item.key, { item, since: monotonicMs(), isAlone: false, waiting: [] });
      placeLater();
    },
    placed(item, { isAlone = false } = {}) {
      const queued = queue.get(item.key)!;
      queued.isAlone = isAlone;
      const placing = new Promise<Placing>((resolve, reject) => void queued.waiting.push({ resolve, reject }));
      void drain();
      return placing;
    },
    async flush() {
      isFlushing = true;
      for (; isBehind(); await drain());
      isFlushing = false;
      if (failure !== undefined) throw failure.thrown;
    },
    lagMs() {
      const first = queue.values().next().value;
      return first === undefined ? 0 : monotonicMs() - first.since;
    },
    worstLagMs: () => worst,
  };

  function isBehind(): boolean {
    return queue.size > 0 && failure === undefined;
  }

  function placeLater(): void {
    const [first] = queue.values();
    if (first === undefined || armedFor !== undefined) return;
    armedFor = first;
    lag(
      () => {
        armedFor = undefined;
        // It was placed meanwhile, and the others are younger.
        if (queue.get(first.item.key) !== first) return placeLater();
        settledUntil = first.since + SHARED_MS;
        void drain();
      },
      Math.max(1, first.since + SETTLED_MS - monotonicMs()),
    );
  }

  /** One batch at a time; callers share the batch under way and then look again. */
  function drain(): Promise<void> {
    draining ??= placeBatch()
      .catch(fail)
      .finally(() => {
        draining = undefined;
        if (!isBehind()) return;
        placeLater();
        for (const { waiting } of queue.values()) if (waiting.length > 0) return void drain();
      });
    return draining;
  }

  async function placeBatch(): Promise<void> {
    // Everything that is added in this turn of the event loop shares the batch.
    await Promise.resolve();
    const lines = Math.max(0, ...nextBatch().map(({ item }) => item.line));
    await journal.durable(lines);
    for (const queued of nextBatch()) if (queued.item.line <= lines) place(queued);
  }

  /** Files that somebody waits for, those that must come before them, and settled ones. */
  function nextBatch(): Queued[] {
    const all = [...queue.values()];
    if (isFlushing) return all;
    const settled = Math.max(settledUntil, monotonicMs() - SETTLED_MS);
    const last = all.findLastIndex(({ waiting, isAlone }) => waiting.length > 0 && !isAlone);
    return all.filter(({ since, waiting }, at) => at <= last || since <= settled || waiting.length > 0);
  }

  function place({ item, since, waiting }: Queued): void {
    const placing = item.perform === undefined ? execute(item) : performed(item.perform);
    if (item.done(placing) === true) return;
    worst = Math.max(worst, monotonicMs() - since);
    queue.delete(item.key);
    for (const { resolve } of waiting) resolve(placing);
  }

  function fail(thrown: unknown): void {
    failure ??= { thrown };
    for (const { waiting } of queue.values()) for (const { reject } of waiting) reject(thrown);
  }
}

function performed(perform: () => void): Placing {
  perform();
  return { kind: 'placed', stamp: undefined };
}
