/** How a task ends that was stopped while somebody worked on it. */
import type { Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store/tasks.js';
import type { Costs } from './costs.js';
import { isCalledOff } from './cancelled.js';
import { fail, putBack } from './settle.js';
import type { EngineContext } from '../core/context.js';

/** What is cancelled with all under it is put down here, and ended when that has ended. */
export async function endStopped(
  context: EngineContext,
  claim: Claim,
  task: Task,
  error: Problem,
  costs: Costs,
): Promise<void> {
  return (await isCalledOff(context, task))
    ? putBack(context, claim, task, error.message, costs)
    : fail(context, claim, task, error, costs);
}
