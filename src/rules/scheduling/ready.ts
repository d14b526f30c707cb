/** Which open tasks are worth looking at, and which wait for others. Pure questions to the tree; nothing is stored. */
import type { OpenState, Task } from '../../domain/task/task.js';

/** Whether a parked task may have something new to do: one of those it waits for is open no longer, or its time has come. */
export function mayMove(task: Task, state: OpenState, isOpen: (id: string) => boolean, nowIso: string): boolean {
  if (state === 'pending') return !task.dependencies.some(isOpen);
  if (state !== 'waiting') return false;
  const { tasks, until } = task.waits ?? {};
  if (until !== undefined && until <= nowIso) return true;
  if (tasks === undefined) return until === undefined;
  return tasks.length === 0 || tasks.some((id) => !isOpen(id));
}
