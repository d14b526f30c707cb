/**
 * Limits how many tasks a tree may create in a minute, so that agents that keep delegating to each
 * other are slowed down while a person can still react. Tasks that other processes created count,
 * except for those created at the same instant.
 */
import type { Task } from '../../domain/task/task.js';
import type { Clock } from '../../ports/clock.js';
import type { CreationRate } from '../../ports/creation-rate.js';

export interface Pace {
  made(root: string): void;
  /** How many tasks may still be created under this task's root in this minute. */
  room(task: Pick<Task, 'root'>): number;
}

const MINUTE_MS = 60_000;

/** `creationRate` also counts the tasks of other processes; without it only our own are counted. */
export function pace(clock: Pick<Clock, 'monotonicMs' | 'now'>, max: number, creationRate?: CreationRate): Pace {
  /** Creation times by root; the root that grew last is at the end. */
  const created = new Map<string, number[]>();
  const isRecent = (at: number): boolean => at > clock.monotonicMs() - MINUTE_MS;
  const recent = (root: string): number[] => (created.get(root) ?? []).filter(isRecent);
  return {
    made(root) {
      const times = [...recent(root), clock.monotonicMs()];
      created.delete(root);
      created.set(root, times);
      for (const [other, before] of created) {
        if (isRecent(before.at(-1)!)) break;
        created.delete(other);
      }
    },
    room({ root }) {
      const own = recent(root).length;
      const all = own >= max ? own : (creationRate?.madeSince(root, clock.now().getTime() - MINUTE_MS) ?? 0);
      return Math.max(0, max - Math.max(own, all));
    },
  };
}

export function tooFast(max: number): string {
  return `this task tree created ${max} tasks in the last minute, which is the limit; continue with what you have, or do the work yourself`;
}
