/** Whether a person asked a task to stop and answer with what it has. */
import { INTERVALS } from '../../domain/intervals.js';
import { isNamedUnder } from '../../domain/task/lineage.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from './context.js';

/** True if the request names this task or one of its ancestors. */
export async function stopAsked(context: EngineContext, task: Task): Promise<boolean> {
  const intents = await context.intents.list({ maxAgeMs: INTERVALS.requestAgeMs });
  return intents.some(
    ({ kind, task: id }) => kind === 'stop' && (task.id === id || task.root === id || isNamedUnder(task, id)),
  );
}
