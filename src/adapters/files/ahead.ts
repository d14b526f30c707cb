/**
 * Where memory is ahead of the disk: tasks that were made, moved or ended here, and conversations, whose files follow. The disk follows a little
 * later, so that of a task that is made and ended within that time only the end is written. It follows in the order of the last changes, and a task
 * that rests comes after the tasks it waits for, so a stop at any moment leaves what a stop a little earlier would have left. Whatever must not be
 * undone by that waits until the disk has caught up, or until the journal has what the disk has not.
 */
import type { Lag } from './base/lag.js';
import type { Line } from './journal.js';

export interface Placement {
  readonly id: string;
  readonly parent?: string | undefined;
  /** The task that somebody asked for, to which this belongs; undefined: to any. */
  readonly root?: string | undefined;
  /** A task among the waiting, for its children: nobody may find it there before them. */
  rests?: boolean;
  /** Writes its bytes aside, once however often it is called; resolves with where they are, if that is aside. Absent: its file is as it shall be. */
  write?: () => Promise<string | undefined>;
  /** From what it can be made again, when what it follows from is durable; undefined: the journal has it. Absent: only its file will do. */
  line?: () => Promise<Line | undefined>;
  /** Gives it its name, as things stand then. `tmp`: where its bytes are, if it had to be written. */
  arrive(tmp: string | undefined): void;
}

export interface Ahead<P extends Placement = Placement> {
  get(id: string): P | undefined;
  /** New, or changed: it is on its way from here on. Throws what went wrong on the way of another: then nothing more is done. */
  put(one: P): void;
  /** It lies where it shall. */
  drop(id: string): void;
  isBehind(): boolean;
  /** Whether one like this is on its way. */
  some(isSo: (one: P) => boolean): boolean;
  /** Resolves when all that was put so far has arrived or was put anew since; throws what went wrong. */
  caughtUp(): Promise<void>;
  /** Resolves when all parts of this task that were put so far are durable, or all there are: as files, or in the journal; and these lines after them. */
  safe(root?: string, lines?: readonly Line[]): Promise<void>;
}

/** Where it is kept what has no file yet. */
export interface Keeping {
  keep(lines: readonly Line[]): Promise<void>;
  arrived(id: string): void;
  settle(): Promise<void>;
}

/** The disk follows when nothing has changed for this long, and after so many times this long in any case: nobody looks at parts of a pattern more closely. */
const LAG_MS = 10;
const MOST_LAGS = 5;

/** A process that has nothing else to do goes on until it has followed, whether its owner closes the workspace or not. */
function aShortWhile(wake: () => void): void {
  setTimeout(wake, LAG_MS);
}

/** `discard`: these bytes are not needed any more. */
export function ahead(keeping: Keeping, discard: (tmp: string) => void, lag: Lag = aShortWhile): Ahead {
  const queue = new Map<string, Placement>();
  /** When each was last changed; rises through the queue. */
  const turns = new Map<Placement, number>();
  /** Those that were written and changed before they arrived, with where. */
  const left = new Map<Placement, string>();
  /** Those that the journal has as they are. */
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
      const mine = turn; // parents that a person wrote may go round in a circle
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
    const there = ones.filter((one) => !queue.has(one.id)); // they came while their lines were written
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

  /** Bytes are written side by side, names given one after the other. What changes meanwhile is left for the next round. */
  async function arriveAll(batch: readonly [Placement, number][]): Promise<void> {
    const written = batch.map(([one]) => one.write?.());
    for (const one of written) one?.catch(() => undefined); // met where it is awaited
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

/** For a `write`. */
export function once<T>(make: () => T): () => T {
  let made: { of: T } | undefined;
  return () => (made ??= { of: make() }).of;
}
