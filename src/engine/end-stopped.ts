/** How a task ends that was stopped while somebody worked on it. */
import type { Problem } from '../domain/problem.js';
import type { Task } from '../domain/task.js';
import type { Claim } from '../ports/store.js';
import type { Costs } from './account.js';
import { isCalledOff } from './called-off.js';
import { fail, putBack } from './end.js';
import type { Parts } from './parts.js';

/** What is cancelled with all under it is put down here, and ended when that has ended. */
export function endStopped(parts: Parts, claim: Claim, task: Task, error: Problem, costs: Costs): Promise<void> {
  return isCalledOff(parts, task)
    ? putBack(parts, claim, task, error.message, costs)
    : fail(parts, claim, task, error, costs);
}
