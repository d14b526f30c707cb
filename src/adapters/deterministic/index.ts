/**
 * A deterministic clock, id source and disk for recording and replay. Time moves only when it is
 * set, ids are derived from a seed, folders are listed in order, and syncs finish in the order
 * requested. Given the same input from outside, a workspace then writes the same bytes in the same
 * order.
 */
import { createHash } from 'node:crypto';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';

interface ManualClock extends Clock {
  /** Moves time forward to this, never back. Returns the new time. */
  moveTo(ms: number): number;
}

/** `wait` performs a sleep in real time. Sleeping does not move this clock. */
export function manualClock(start: number, wait: Clock['sleep']): ManualClock {
  let at = start;
  return {
    now: () => new Date(at),
    monotonicMs: () => at - start,
    sleep: wait,
    moveTo: (ms) => (at = Math.max(at, ms)),
  };
}

interface SeededIds extends Ids {
  count(): number;
  /** Continues as if this many ids had been issued. */
  moveTo(count: number): void;
}

export function seededIds(seed: string): SeededIds {
  let n = 0;
  return {
    next() {
      const bytes = createHash('sha256').update(`${seed} ${++n}`).digest();
      return bytes.readBigUInt64BE().toString(36).padStart(10, '0').slice(-10);
    },
    count: () => n,
    moveTo: (count) => void (n = count),
  };
}

/** Without `durable`, a sync only waits for its turn and does not reach the device. */
export function orderedDisk(disk: Disk, { durable }: { durable: boolean }): Disk {
  let last: Promise<void> = Promise.resolve();
  const inOrder = (sync: () => Promise<void>): Promise<void> => {
    const current = last.then(durable ? sync : () => new Promise<void>((resolve) => setImmediate(resolve)));
    last = current.catch(() => undefined);
    return current;
  };
  return {
    ...disk,
    list: (folder) => disk.list(folder).sort(),
    syncNow: durable ? disk.syncNow : () => undefined,
    sync: (file) => inOrder(() => disk.sync(file)),
    syncFolder: (folder) => inOrder(() => disk.syncFolder(folder)),
  };
}
