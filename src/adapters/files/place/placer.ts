/**
 * Files follow from the journal: a queue of the files whose lines are written and whose names are
 * not there yet. Each file is placed once its line is durable: at once if others must see it, and
 * within the lag otherwise. A file that changes while it waits is placed once, in its last state
 * and in its first place in the queue, so that a child always appears before the parent that waits
 * for it.
 */
import type { Lag } from '../base/lag.js';
import type { Journal } from '../journal/journal.js';
import type { Operation, Placing } from './operation.js';

/** A file on its way to its name. */
export interface Item extends Operation {
  readonly key: string;
  /** The number of the journal line that must be durable first. */
  line: number;
  /** Called when the file has its name, or cannot have it. True: place it again, as it is now. */
  done(placing: Placing): boolean | void;
}

export interface Placer {
  get(key: string): Item | undefined;
  /** A worker thread is placing it right now, so others may see it at any moment. */
  isInFlight(key: string): boolean;
  /** Queues a new item. Flushed after the lag. */
  put(item: Item): void;
  /** A queued item has changed. */
  touch(): void;
  /**
   * Resolves when this item is placed; flushes at once. `isAlone`: what waits before it may come
   * later.
   */
  placed(item: Item, options?: { isAlone?: boolean }): Promise<Placing>;
  /** Resolves when everything queued so far is placed. */
  flush(): Promise<void>;
  isBehind(): boolean;
  /** How long the oldest item has been waiting. */
  lagMs(): number;
  /** The longest that any item has waited. */
  worstLagMs(): number;
}

export type ExecuteAll = (operations: Operation[]) => Placing[] | Promise<Placing[]>;

interface Queued {
  item: Item;
  since: number;
  /** What is being placed right now. */
  sent?: Operation | undefined;
  isAlone: boolean;
  waiting: { resolve: (placing: Placing) => void; reject: (thrown: unknown) => void }[];
}

interface PlacerOptions {
  journal: Pick<Journal, 'durable' | 'placed' | 'drop'>;
  execute: ExecuteAll;
  monotonicMs: () => number;
  lag: Lag;
  /** Called with every batch, after its files are in place. */
  afterBatch: () => void;
  onFailure: (thrown: unknown) => void;
}

export function placer({ journal, execute, monotonicMs, lag, afterBatch, onFailure }: PlacerOptions): Placer {
  const queue = new Map<string, Queued>();
  let isDue = false;
  let draining: Promise<void> | undefined;
  let isFlushing = false;
  let worst = 0;
  let failure: { thrown: unknown } | undefined;

  return {
    get: (key) => queue.get(key)?.item,
    isInFlight: (key) => queue.get(key)?.sent !== undefined,
    put(item) {
      if (failure !== undefined) throw failure.thrown;
      queue.set(item.key, { item, since: monotonicMs(), isAlone: false, waiting: [] });
      flushLater();
    },
    touch: flushLater,
    placed(item, { isAlone = false } = {}) {
      const queued = queue.get(item.key)!;
      queued.isAlone = isAlone;
      const placing = new Promise<Placing>((resolve, reject) => void queued.waiting.push({ resolve, reject }));
      void drain();
      return placing;
    },
    async flush() {
      isFlushing = true;
      for (; canDrain(); await drain());
      isFlushing = false;
      if (failure !== undefined) throw failure.thrown;
    },
    isBehind: () => queue.size > 0 || failure !== undefined,
    lagMs() {
      const first = queue.values().next().value;
      return first === undefined ? 0 : monotonicMs() - first.since;
    },
    worstLagMs: () => worst,
  };

  function canDrain(): boolean {
    return queue.size > 0 && failure === undefined;
  }

  function flushLater(): void {
    if (isDue) return;
    isDue = true;
    lag(() => {
      isDue = false;
      if (queue.size > 0) void drain();
    });
  }

  /** One batch at a time; callers share the batch under way and then look again. */
  function drain(): Promise<void> {
    draining ??= placeBatch()
      .catch(fail)
      .finally(() => {
        draining = undefined;
        if (failure !== undefined) return;
        if ([...queue.values()].some(({ waiting }) => waiting.length > 0)) void drain();
        else if (queue.size > 0) flushLater();
      });
    return draining;
  }

  async function placeBatch(): Promise<void> {
    // Everything that is added in this turn of the event loop shares the batch.
    await Promise.resolve();
    const lines = Math.max(0, ...nextBatch().map(({ item }) => item.line));
    await journal.durable(lines);
    const batch = nextBatch().filter(({ item }) => item.line <= lines);
    const sent = batch.map(({ item }) => operationOf(item));
    for (const [i, queued] of batch.entries()) queued.sent = sent[i];
    const placings = await execute(sent);
    for (const [i, queued] of batch.entries()) settle(queued, sent[i]!, placings[i]!);
    afterBatch();
  }

  /** All that is queued, unless the only ones that are waited for can come before the others. */
  function nextBatch(): Queued[] {
    const all = [...queue.values()];
    const awaited = all.filter(({ waiting }) => waiting.length > 0);
    return !isFlushing && awaited.length > 0 && awaited.every(({ isAlone }) => isAlone) ? awaited : all;
  }

  function settle(queued: Queued, sent: Operation, placing: Placing): void {
    const { item, since, waiting } = queued;
    queued.sent = undefined;
    worst = Math.max(worst, monotonicMs() - since);
    if (placing.kind === 'placed' && hasChanged(item, sent)) {
      // It changed while it was placed: it goes on from the name that it has now.
      item.from = sent.to;
      if (item.text === sent.text) item.text = undefined;
      return;
    }
    const isAgain = item.done(placing) === true;
    if (isAgain) return;
    queue.delete(item.key);
    for (const { resolve } of waiting) resolve(placing);
  }

  function fail(thrown: unknown): void {
    failure ??= { thrown };
    onFailure(thrown);
    for (const { waiting } of queue.values()) for (const { reject } of waiting) reject(thrown);
  }
}

function hasChanged(item: Item, sent: Operation): boolean {
  return item.to !== sent.to || item.text !== sent.text;
}

function operationOf({ from, to, text, others, unclaimed, evidence, page }: Item): Operation {
  return { from, to, text, others, unclaimed, evidence, page };
}
