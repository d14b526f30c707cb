/**
 * The tasks that the last pass could not start for lack of capacity. A queue is passed over as a
 * whole, so its key stands for all tasks in it.
 */
import type { Task } from '../../domain/task/task.js';
import { queueKey } from '../../rules/scheduling/ready-queue.js';
import type { ReadyQueue } from '../core/ready-queue.js';

interface PassedOver {
  /**
   * Begins a new pass. Returns a function that notes a task; the notes count once `done` is called.
   */
  begin(): { note(task: Task): void; done(): void };
  /** Whether the last pass found a task of this tree that could start if there were capacity. */
  has(root: string): boolean;
}

export function passedOver(queue: Pick<ReadyQueue, 'find'>): PassedOver {
  let roots: ReadonlySet<string> = new Set();
  let queues: ReadonlySet<string> = new Set();
  return {
    begin() {
      const noted = { roots: new Set<string>(), queues: new Set<string>() };
      return {
        note(task) {
          if (queue.find(task.id) === undefined) noted.roots.add(task.root);
          else noted.queues.add(queueKey(task));
        },
        done: () => void ({ roots, queues } = noted),
      };
    },
    has(root) {
      if (roots.has(root)) return true;
      const place = queues.size === 0 ? undefined : queue.find(root);
      return place !== undefined && queues.has(queueKey(place.task));
    },
  };
}
