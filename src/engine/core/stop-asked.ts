/** Whether a person asked a task to stop and answer with what it has. */
import { isNamedUnder } from '../../domain/task/lineage.js';
import type { Task } from '../../domain/task/task.js';
import type { Parts } from './context.js';

/** True if the request names this task or one of its ancestors. */
export async function stopAsked(parts: Parts, task: Task): Promise<boolean> {
  const intents = await parts.store.intents();
  return intents.some(
    ({ kind, task: id }) => kind === 'stop' && (task.id === id || task.root === id || isNamedUnder(task, id)),
  );
}
