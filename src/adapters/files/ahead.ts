/**
 * Write-behind queue for task and session files. Pattern stages change in memory first and are
 * flushed within 50 ms, in the order of their last change, a parked task after its children. A
 * crash therefore leaves a slightly earlier state. Callers that need durability wait for `caughtUp`
 * (files) or `safe` (files or journal).
 */
import type { Lag } from './base/lag.js';
import type { Line } from './journal.js';

export interface Placement {
  readonly id: string;
  readonly parent?: string | undefined;
  /** The root task to which this belongs; undefined: to any. */
  readonly root?: string | undefined;
  /** A task that waits for its children: its file must not be visible before theirs. */
  rests?: boolean;
  /**
   * Writes the bytes to a temporary file, at most once; resolves with its path, if there is one.
   * Absent: the content is unchanged.
   */
  write?: () => Promise<string | undefined>;
  /**
   * The journal line from which the file can be rebuilt; undefined: the journal has it already.
   * Absent: only the file counts.
   */
  line?: () => Promise<Line | undefined>;
  /** Gives the file its name. `tmp`: the temporary file, if the content was written. */
  arrive(tmp: string | undefined): void;
}

export interface Ahead<P extends Placement = Placement> {
  get(id: string): P | undefined;
  /**
   * Queues a new or changed placement. Throws if an earlier write failed: the queue stops at the
   * first failure.
   */
  put(one: P): void;
  /** Removes a placement whose file is already in place. */
  drop(id: string): void;
  isBehind(): boolean;
  /** Whether any queued placement matches. */
  some(isSo: (one: P) => boolean): boolean;
  /**
   * Resolves when all placements queued so far are written or were queued again; rejects if a write
   * failed.
   */
  caughtUp(): Promise<void>;
  /**
   * Resolves when everything queued so far for this root, or at all, is durable as files or in the
   * journal, and these lines after it.
   */
  safe(root?: string, lines?: readonly Line[]): Promise<void>;
}

/** The journal, as far as the queue uses it. */
export interface Keeping {
  keep(lines: readonly Line[]): Promise<void>;
  arrived(id: string): void;
  settle(): Promise<void>;
}

/**
 * The queue is flushed when nothing has changed for this long, and after MOST_LAGS times this long
 * in any case.
 */
const LAG_MS = 10;
const MOST_LAGS = 5;

/**
 * The timer keeps the process alive until the queue is flushed, even if the workspace is never
 * closed.
 */
function aShortWhile(wake: () => void): void {
  setTimeout(wake, LAG_MS);
}

/** `discard` removes a temporary file that is not needed any more. */
export function ahead(keeping: Keeping, discard: (tmp: string) => void, lag: Lag = aShortWhile): Ahead {
  const queue = new Map<string, Placement>();
  /** The sequence number of each placement's last change; ascending through the queue. */
  const turns = new Map<Placement, number>();
  /** Temporary files of placements that changed after their content was written. */
  const left = new Map<Placement, string>();
  /** Placements whose current content is in the journal. */
  const kept = new WeakMap<Placement, Promise<void>>();
  let waiters: { turn: number; done: () => void; failed: (thrown: unknown) => void }[] = [];
  let turn = 0;
  let isDue = false;
  let draining = false;
  let broken: { thrown: unknown } | undefined;

  return {
    get: (id) => queue.get(id),
    put(one) {
      if (broken) throw broken.thrown;
      const before = queue.get(one.id);
      if (before !== undefined && before !== one) abandon(before);
      last(one);
      const mine = turn; // parent links are user-editable; guard against cycles
      for (let above = parentOf(one); above?.rests === true && turns.get(above)! < mine; above = parentOf(above))
        last(above);
      if (isDue || draining) return;
      isDue = true;
      follow(MOST_LAGS);
    },
    drop(id) {
      const one = queue.get(id);
      forget(id);
      if (one !== undefined) abandon(one);
      tell();
    },
    isBehind: () => queue.size > 0 || broken !== undefined,
    some(isSo) {
      for (const one of queue.values()) if (isSo(one)) return true;
      return false;
    },
    caughtUp,
    async safe(root, lines = []) {
      const concerned = [...queue.values()].filter(
        (one) => root === undefined || one.root === undefined || one.root === root,
      );
      if (broken || concerned.some((one) => one.line === undefined)) await caughtUp();
      const unkept = concerned.filter((one) => one.line !== undefined && turns.has(one) && !kept.has(one));
      if (unkept.length + lines.length > 0) {
        const all = keepAll(unkept, lines);
        for (const one of unkept) kept.set(one, all);
        await all;
      }
      for (const promise of new Set(concerned.map((one) => kept.get(one)))) await promise;
    },
  };

  function follow(lags: number): void {
    const before = turn;
    lag(() => {
      if (turn !== before && lags > 1) return follow(lags - 1);
      isDue = false;
      void drain();
    });
  }

  function caughtUp(): Promise<void> {
    if (broken) return Promise.reject(broken.thrown);
    if (queue.size === 0) return Promise.resolve();
    const arrived = new Promise<void>((done, failed) => void waiters.push({ turn, done, failed }));
    void drain();
    return arrived;
  }

  async function keepAll(ones: readonly Placement[], more: readonly Line[]): Promise<void> {
    const lines = await Promise.all(ones.map((one) => one.line!()));
    await keeping.keep([...lines.filter((line) => line !== undefined), ...more]);
    // their files were written while their lines were
    const there = ones.filter((one) => !queue.has(one.id));
    for (const { id } of there) keeping.arrived(id);
    if (there.length > 0) keeping.settle().catch(fail);
  }

  function parentOf({ parent }: Placement): Placement | undefined {
    return parent === undefined ? undefined : queue.get(parent);
  }

  function last(one: Placement): void {
    queue.delete(one.id);
    queue.set(one.id, one);
    turns.set(one, ++turn);
  }

  function forget(id: string): void {
    const one = queue.get(id);
    if (one === undefined) return;
    queue.delete(id);
    turns.delete(one);
  }

  function fail(thrown: unknown): void {
    broken ??= { thrown };
    for (const { failed } of waiters.splice(0)) failed(thrown);
  }

  function abandon(one: Placement): void {
    turns.delete(one);
    const tmp = left.get(one);
    if (left.delete(one)) discard(tmp!);
  }

  async function drain(): Promise<void> {
    if (draining || broken) return;
    draining = true;
    try {
      while (queue.size > 0) {
        await arriveAll([...queue.values()].map((one) => [one, turns.get(one)!]));
        await keeping.settle();
      }
    } catch (thrown) {
      fail(thrown);
    } finally {
      draining = false;
    }
  }

  /**
   * Contents are written in parallel, names are given in order. Placements that change meanwhile
   * wait for the next round.
   */
  async function arriveAll(batch: readonly [Placement, number][]): Promise<void> {
    const written = batch.map(([one]) => one.write?.());
    for (const one of written) one?.catch(() => undefined); // handled where it is awaited
    for (const [i, [one, at]] of batch.entries()) {
      const tmp = await written[i];
      if (turns.get(one) === at) {
        forget(one.id);
        left.delete(one);
        one.arrive(tmp);
        keeping.arrived(one.id);
      } else if (tmp !== undefined) {
        if (turns.has(one)) left.set(one, tmp);
        else discard(tmp);
      }
      tell();
    }
  }

  function tell(): void {
    const first = queue.values().next().value;
    const oldest = first === undefined ? Infinity : turns.get(first)!;
    if (waiters[0] === undefined || waiters[0].turn >= oldest) return;
    const arrived = waiters.filter((one) => one.turn < oldest);
    waiters = waiters.slice(arrived.length);
    for (const { done } of arrived) done();
  }
}

/** Calls `make` at most once. */
export function once<T>(make: () => T): () => T {
  let made: { of: T } | undefined;
  return () => (made ??= { of: make() }).of;
}
