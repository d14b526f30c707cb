/**
 * How long processes have not renewed, in observed time: an observer adds up the time between its
 * own looks, at most a quarter of a lease for each. No clocks are compared, and time in which the
 * ledger was away or the observer was paused does not count.
 */
import type { Cell } from './batch.js';

interface Silence {
  /** Call it after each look, before the entries are judged. */
  looked(): void;
  /** Whether the entry has not changed for a whole lease. Call it once after each look. */
  isOver(cell: Cell): boolean;
}

export function silence(leaseMs: number, monotonicMs: () => number): Silence {
  /** Each entry's revision at the last judgement, and how long it has had that one. */
  const quiet = new WeakMap<Cell, { rev: number; ms: number }>();
  let lookedAt: number | undefined;
  let passedMs = 0;
  return {
    looked() {
      const now = monotonicMs();
      passedMs = Math.min(now - (lookedAt ?? now), leaseMs / 4);
      lookedAt = now;
    },
    isOver(cell) {
      const last = quiet.get(cell);
      const ms = last?.rev === cell.rev ? last.ms + passedMs : 0;
      quiet.set(cell, { rev: cell.rev, ms });
      return ms >= leaseMs;
    },
  };
}
