/**
 * Budgets for children that look for an assignee, such as bids, before the task itself has started.
 */
import type { Budget } from '../../domain/budget/budget.js';
import type { Problem } from '../../domain/problem.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import { grantEach, remainingBudget } from '../../rules/budget/remaining.js';
import type { EngineContext } from '../core/context.js';

/**
 * They spend the task's money and tokens; its turns, tool calls and children are for its own work.
 */
export function grantForCost(
  { config }: EngineContext,
  task: Task,
  wanted: readonly WantedChild[],
  known: ReadonlyMap<string, Placed | undefined>,
): WantedChild[] | Problem {
  const from = remainingBudget({
    task: { ...task, budget: forCost(task.budget) },
    agent: { budget: {} },
    config: { budget: forCost(config.budget), limits: { ...config.limits, children: Infinity } },
    own: NO_USAGE,
    children: [...known.values()].flatMap((child) => child ?? []),
  });
  return grantEach(from, wanted, () => 1);
}

function forCost({ turns: _, toolCalls: __, children: ___, ...rest }: Budget = {}): Budget {
  return rest;
}
