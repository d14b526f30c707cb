/**
 * How fast a tree may grow. Budgets bound how far; this bounds how quickly, so that agents that keep asking each other for more are slowed down
 * while a person can still see it. It holds for the workspace: what other processes made, and what was made before this one started, is read
 * off history. Who asks in the very same moment as another does not see it yet.
 */
import type { Task } from '../../domain/task/task.js';
import type { Clock } from '../../ports/clock.js';
import type { CreationRate } from '../../ports/creation-rate.js';

export interface Pace {
  /** A task was made under this root. */
  made(root: string): void;
  /** How many tasks may still be made under this one's root in this minute. */
  room(task: Pick<Task, 'root'>): number;
}

const MINUTE_MS = 60_000;

/** Without `growth` each process counts for itself. */
export function pace(clock: Pick<Clock, 'monotonicMs' | 'now'>, most: number, growth?: CreationRate): Pace {
  /** When tasks were made under each root, the root that grew last at the end. */
  const grown = new Map<string, number[]>();
  const isLate = (at: number): boolean => at > clock.monotonicMs() - MINUTE_MS;
  const lately = (root: string): number[] => (grown.get(root) ?? []).filter(isLate);
  return {
    made(root) {
      const times = [...lately(root), clock.monotonicMs()];
      grown.delete(root);
      grown.set(root, times);
      for (const [other, before] of grown) {
        if (isLate(before.at(-1)!)) break;
        grown.delete(other);
      }
    },
    room({ root }) {
      const own = lately(root).length;
      const all = own >= most ? own : (growth?.madeSince(root, clock.now().getTime() - MINUTE_MS) ?? 0);
      return Math.max(0, most - Math.max(own, all));
    },
  };
}

export function tooFast(most: number): string {
  return `${most} tasks were made under this root in a minute, and no more can be; go on with what you have, or do it yourself`;
}
