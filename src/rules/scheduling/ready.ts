/** Decides whether an open task can be worked on now. */
import type { OpenState, Task } from '../../domain/task/task.js';

/**
 * True if its dependencies have ended, one of the tasks it waits for has ended, or its time has
 * come.
 */
export function mayMove(task: Task, state: OpenState, isOpen: (id: string) => boolean, nowIso: string): boolean {
  if (state === 'pending') return !task.dependencies.some(isOpen);
  if (state !== 'waiting') return false;
  const { tasks, until } = task.waits ?? {};
  if (until !== undefined && until <= nowIso) return true;
  if (tasks === undefined) return until === undefined;
  return tasks.length === 0 || tasks.some((id) => !isOpen(id));
}
