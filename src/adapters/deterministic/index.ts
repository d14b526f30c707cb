/**
 * Time, chance and a disk that leave nothing to luck. Time stands still until somebody moves it on; ids follow from a seed; folders
 * are listed in order, and syncs end in the order they were asked for. Given the same answers from outside, a workspace on these
 * does the same things in the same order and writes the same bytes.
 */
import { createHash } from 'node:crypto';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';

export interface SteadyClock extends Clock {
  /** Moves time on to this; never back. Returns what time it is then. */
  moveTo(ms: number): number;
}

/** `wait`: how a sleep really passes. Sleeping does not move time: what it was for has its own time. */
export function steadyClock(start: number, wait: Clock['sleep']): SteadyClock {
  let at = start;
  return {
    now: () => new Date(at),
    monotonicMs: () => at - start,
    sleep: wait,
    moveTo: (ms) => (at = Math.max(at, ms)),
  };
}

export interface SeededIds extends Ids {
  /** How many were given out. */
  count(): number;
  /** Goes on as if so many had been given out. */
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

/** `durable`: syncs are real. Otherwise they only take their turn. */
export function steadyDisk(disk: Disk, { durable }: { durable: boolean }): Disk {
  let last: Promise<void> = Promise.resolve();
  const inTurn = (sync: () => Promise<void>): Promise<void> => {
    const mine = last.then(durable ? sync : () => new Promise<void>((resolve) => setImmediate(resolve)));
    last = mine.catch(() => undefined);
    return mine;
  };
  return {
    ...disk,
    list: (folder) => disk.list(folder).sort(),
    syncNow: durable ? disk.syncNow : () => undefined,
    sync: (file) => inTurn(() => disk.sync(file)),
    syncFolder: (folder) => inTurn(() => disk.syncFolder(folder)),
  };
}
