/**
 * Describes a failed model call to people. The hint to retry appears only if a person must act: if
 * the asker can continue without this task, the run has moved on.
 */
import type { Budget } from '../../domain/budget/budget.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import type { ModelFailure } from '../../ports/model.js';
import { ancestors } from '../core/tree.js';
import type { EngineContext } from '../core/context.js';

type Context = Pick<EngineContext, 'tasks' | 'locks' | 'agents'>;

export async function modelProblem(
  context: Context,
  failure: ModelFailure,
  left: Budget,
  task: Task,
): Promise<Problem> {
  if (failure.class === 'aborted' && left.timeMs !== undefined) {
    return problem('timed_out', `no answer within the ${left.timeMs / 1000} s that ${task.id} had left`);
  }
  const hint = (await isSpare(context, task)) ? {} : { hint: `fix this, then run: guild task retry ${task.root}` };
  return problem('model_failed', failure.message, hint);
}

/** The asker of this task, or of an ancestor, can continue without it. */
async function isSpare(context: Context, task: Task): Promise<boolean> {
  let child = task;
  for await (const asker of ancestors(context, task)) {
    if (roleFacts(child.role).isSpare && !isRequired(context, asker, child)) return true;
    child = asker;
  }
  return false;
}

function isRequired({ agents }: Context, asker: Task, { role, to }: Task): boolean {
  const { advisors = [] } = agents.all().get(asker.to ?? '') ?? {};
  return roleFacts(role).mayBeRequired && advisors.some((advisor) => advisor.agent === to && advisor.required);
}
