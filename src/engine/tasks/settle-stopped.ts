/** How a task ends that was stopped while somebody worked on it. */
import type { Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store.js';
import type { Costs } from './costs.js';
import { isCalledOff } from './cancelled.js';
import { fail, putBack } from './settle.js';
import type { Parts } from '../core/context.js';

/** What is cancelled with all under it is put down here, and ended when that has ended. */
export async function endStopped(parts: Parts, claim: Claim, task: Task, error: Problem, costs: Costs): Promise<void> {
  return (await isCalledOff(parts, task))
    ? putBack(parts, claim, task, error.message, costs)
    : fail(parts, claim, task, error, costs);
}
