/**
 * Everything that this process writes to the ledger, in one commit at a time: changes that are
 * queued while a commit is under way go with the next one. That is group commit without a timer,
 * and an end never arrives without the conversation that led to it.
 */
import type { Add, Ledger, Topic } from '../../ports/ledger.js';
import {
  changeOf,
  isEmpty,
  newBatch,
  takeAnswer,
  type Batch,
  type Cell,
  type Fate,
  type Tail,
  type Value,
} from './batch.js';
import { declaredDead } from './problems.js';

export interface Outbox {
  /** Queues a value for the entry, in place of one that is queued. */
  setLater(cell: Cell, value: Value): void;
  /** Like `setLater`, but waits. False: the entry had another revision and is unchanged. */
  set(cell: Cell, value: Value): Promise<boolean>;
  unsent(key: string): Value | undefined;
  /** Whether the entry is queued and unsent, so no other process knows it. */
  isOwn(cell: Cell): boolean;
  growLater(tail: Tail, items: readonly unknown[]): void;
  /** Like `growLater`, but waits. False: the log had another end, and nothing was added. */
  grow(tail: Tail, items: readonly unknown[]): Promise<boolean>;
  hasUnsent(log: string): boolean;
  /** Queues a line for any place in a log. `topic`: whom it wakes. */
  line(add: Add, topic: Topic): void;
  /** Resolves when everything queued so far is durable. Throws if the process cannot write. */
  flush(): Promise<void>;
  /** Like `flush`, but does not cause a commit: everything goes out with other changes. */
  sent(): Promise<void>;
  /** Calls back when a value is accepted or refused. Refused: the entry had another revision. */
  onAnswer(hear: (cell: Cell, fate: Fate) => void): void;
  /** Makes every later commit depend on this entry. */
  guardBy(key: string): void;
  /** The entry given to `guardBy`; undefined: other processes do not know this one yet. */
  guard(): string | undefined;
  /** Makes every later write fail. The first reason is kept. */
  fail(reason: unknown): void;
  /** Throws the reason why nothing can be written. */
  check(): void;
  /** The longest time that a change has been queued. */
  worstLagMs(): number;
}

interface OutboxOptions {
  ledger: Ledger;
  /** A prefix for the ids of this process's commits, which no other process may use. */
  name: string;
  monotonicMs: () => number;
  /** Calls `wake` when it is time to send the changes that no caller waits for. */
  lag: (wake: () => void) => void;
}

export function outbox({ ledger, name, monotonicMs, lag }: OutboxOptions): Outbox {
  let open = newBatch();
  let current: Batch | undefined;
  let guard: string | undefined;
  let failure: { reason: unknown } | undefined;
  let commits = 0;
  let worstLagMs = 0;
  let isLagging = false;
  const answers: ((cell: Cell, fate: Fate) => void)[] = [];

  return {
    setLater: queue,
    async set(cell, value) {
      const batch = open;
      queue(cell, value);
      await wanted(batch);
      return batch.cells.get(cell.key)!.isAccepted;
    },
    unsent: (key) => open.cells.get(key) ?? current?.cells.get(key),
    isOwn: (cell) => cell.rev === 0 && open.cells.get(cell.key)?.cell === cell && !current?.cells.has(cell.key),
    growLater: queueItems,
    async grow(tail, items) {
      const batch = open;
      queueItems(tail, items);
      await wanted(batch);
      return batch.logs.get(tail.log)!.isAccepted;
    },
    hasUnsent: (log) => open.logs.has(log) || current?.logs.has(log) === true,
    line(add, topic) {
      check();
      open.lines.push(add);
      open.topics.add(topic);
      later();
    },
    async flush() {
      check();
      if (!isEmpty(open)) await wanted(open);
      else await current?.done;
    },
    async sent() {
      check();
      await (isEmpty(open) ? current : open)?.done;
    },
    onAnswer: (hear) => void answers.push(hear),
    guardBy: (key) => void (guard = key),
    guard: () => guard,
    fail,
    check,
    worstLagMs: () => worstLagMs,
  };

  function check(): void {
    if (failure !== undefined) throw failure.reason;
  }

  function fail(reason: unknown): void {
    failure ??= { reason };
  }

  function queue(cell: Cell, value: Value): void {
    check();
    open.cells.set(cell.key, { ...value, cell, isAccepted: false });
    const { topic = 'work' } = value;
    if (topic !== 'nobody') open.topics.add(topic);
    later();
  }

  function queueItems(tail: Tail, items: readonly unknown[]): void {
    check();
    const growth = open.logs.get(tail.log) ?? { tail, items: [], isAccepted: false };
    growth.items.push(...items);
    open.logs.set(tail.log, growth);
    open.topics.add('views');
    later();
  }

  function wanted(batch: Batch): Promise<void> {
    batch.isWanted = true;
    if (current === undefined && batch === open) send();
    return batch.done;
  }

  function later(): void {
    open.since ??= monotonicMs();
    if (isLagging || open.isWanted) return;
    isLagging = true;
    lag(() => {
      isLagging = false;
      if (isEmpty(open)) return;
      open.isWanted = true;
      if (current === undefined) send();
    });
  }

  function send(): void {
    const batch = open;
    current = batch;
    open = newBatch();
    void commit(batch).then(
      () => finished(batch),
      (thrown: unknown) => {
        fail(thrown);
        finished(batch, failure);
      },
    );
  }

  function finished(batch: Batch, failed?: { reason: unknown }): void {
    if (batch.since !== undefined) worstLagMs = Math.max(worstLagMs, monotonicMs() - batch.since);
    current = undefined;
    if (failed === undefined)
      for (const queued of batch.cells.values()) for (const hear of answers) hear(queued.cell, queued);
    batch.settle(failed);
    if (open.isWanted) send();
  }

  async function commit(batch: Batch): Promise<void> {
    check();
    const answer = await ledger.commit(`${name}.${++commits}`, changeOf(batch), guard);
    if (answer === 'fenced') throw declaredDead();
    takeAnswer(batch, answer);
  }
}
