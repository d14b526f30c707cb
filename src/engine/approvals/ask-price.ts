/**
 * A budget of money cannot be kept if nobody knows what a model costs. So the human is asked once
 * for each task whether it may spend an unknown amount, instead of counting nothing.
 */
import { problem, type Problem } from '../../domain/problem.js';
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';
import { approvalFor, consult } from './request.js';

/** The verdict, or the approval to wait for. */
export async function askPrice(
  context: EngineContext,
  task: Task,
  agent: Agent,
  models: readonly string[],
): Promise<'yes' | 'no' | { child: WantedChild }> {
  const call = { id: 'price', name: 'spend_without_price', arguments: { models: [...models] } };
  const reasons = [
    `the price of ${models.join(', ')} is not known, so the usd budget of this task cannot be kept`,
    `to keep it, refuse this and set the price in guild.yaml, for example: prices: { ${models[0]}: { input: 1, output: 4 } }`,
  ];
  const wanted = approvalFor(
    context,
    task,
    agent,
    call,
    { verdict: 'ask', reasons, risk: 'MEDIUM' },
    {
      id: childId(task.id, call.id),
      title: `Approve calls of unknown price: ${models.join(', ')}`,
      confinement: 'all other limits of the task still hold',
    },
  );
  const { child, answer } = await consult(context, wanted);
  return answer.kind === 'open' ? { child } : answer.kind;
}

export function unknownPrice(models: readonly string[]): Problem {
  return problem('over_budget', `the task has a usd budget, and the price of ${models.join(', ')} is not known`, {
    hint: `set it in guild.yaml, for example: prices: { ${models[0]}: { input: 1, output: 4 } }`,
  });
}
