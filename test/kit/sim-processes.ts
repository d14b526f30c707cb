/** Simulated processes that a test starts and kills. */
import { whereabouts } from '../../src/domain/peer.js';
import type { Processes, ProcessIdentity } from '../../src/ports/processes.js';

interface SimProcesses {
  /** A new process; `die` ends it. `pidNamespace`: the container in which it runs. */
  start(bootId?: string, pidNamespace?: string): Processes & { die(): void };
}

export function simProcesses(): SimProcesses {
  let pids = 0;
  const alive = new Set<number>();
  return {
    start(bootId = 'test', pidNamespace = 'pid:[1]') {
      const pid = ++pids;
      alive.add(pid);
      const me: ProcessIdentity = { host: 'test', bootId, pidNamespace, pid, startTime: '0' };
      return {
        me: () => me,
        isAlive(who) {
          const where = whereabouts(who, me);
          return where === 'here' ? alive.has(who.pid) : where === 'elsewhere';
        },
        die: () => void alive.delete(pid),
      };
    },
  };
}

/** Counted ids, the same on every run. `prefix` keeps those of two processes apart. */
export function countedIds(prefix = ''): { next(): string } {
  let n = 0;
  return { next: () => `${prefix}${String(++n).padStart(8 - prefix.length, '0')}` };
}

/** A small seeded source of numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
