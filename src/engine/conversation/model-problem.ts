/**
 * What a failed model call is to the people who read of it. How to go on is only said where somebody has to: when a part fails that its
 * asker can do without, the run has gone on already, and there may be nothing left to retry.
 */
import type { Budget } from '../../domain/budget/budget.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import type { ModelFailure } from '../../ports/model.js';
import { ancestors } from '../core/tree.js';
import type { EngineContext } from '../core/context.js';

type Known = Pick<EngineContext, 'tasks' | 'locks' | 'agents'>;

export async function modelProblem(context: Known, failure: ModelFailure, left: Budget, task: Task): Promise<Problem> {
  if (failure.class === 'aborted' && left.timeMs !== undefined) {
    return problem('timed_out', `no answer within the ${left.timeMs} ms that ${task.id} had left`);
  }
  const hint = (await isSpare(context, task)) ? {} : { hint: `when that is mended: guild task retry ${task.root}` };
  return problem('model_failed', failure.message, hint);
}

/** It, or one above it that it is part of, can be done without. */
async function isSpare(context: Known, task: Task): Promise<boolean> {
  let below = task;
  for await (const asker of ancestors(context, task)) {
    if (roleFacts(below.role).isSpare && !isRequired(context, asker, below)) return true;
    below = asker;
  }
  return false;
}

function isRequired({ agents }: Known, asker: Task, { role, to }: Task): boolean {
  const { advisors = [] } = agents.all().get(asker.to ?? '') ?? {};
  return roleFacts(role).mayBeRequired && advisors.some((advisor) => advisor.agent === to && advisor.required);
}
