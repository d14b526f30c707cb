/**
 * How fast a tree may grow. Budgets bound how far; this bounds how quickly, so that agents that keep asking each other for more are slowed down
 * while a person can still see it. Counted by each process from what it hears; the count begins anew with the process.
 */
import type { Event } from '../domain/event.js';
import type { Task } from '../domain/task.js';
import type { Clock } from '../ports/clock.js';

export interface Pace {
  heard(event: Event): void;
  /** How many tasks may still be made under this one's root in this minute. */
  room(task: Pick<Task, 'root'>): number;
}

const MINUTE_MS = 60_000;

export function pace(clock: Pick<Clock, 'monotonicMs'>, most: number): Pace {
  const made = new Map<string, number[]>();
  const lately = (key: string): number[] => {
    const from = clock.monotonicMs() - MINUTE_MS;
    const times = (made.get(key) ?? []).filter((at) => at > from);
    if (times.length === 0) made.delete(key);
    else made.set(key, times);
    return times;
  };
  return {
    heard({ name, task }) {
      if (name !== 'task.created' || task === undefined || !task.includes('.')) return;
      const key = treeOf(task);
      const times = lately(key);
      if (times.push(clock.monotonicMs()) > 0) made.set(key, times);
    },
    room: ({ root }) => Math.max(0, most - lately(treeOf(root)).length),
  };
}

/** Ids of children begin with that of their root. */
function treeOf(id: string): string {
  return id.split('.', 1)[0]!;
}

export function tooFast(most: number): string {
  return `${most} tasks were made under this root in a minute, and no more can be; go on with what you have, or do it yourself`;
}
