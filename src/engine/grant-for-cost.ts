/** Children that serve to find a taker: what they may spend of a task that nobody works on yet. */
import { isLimited, type Budget } from '../domain/budget.js';
import type { Problem } from '../domain/problem.js';
import type { Placed, Task, WantedChild } from '../domain/task.js';
import { NO_USAGE } from '../domain/usage.js';
import { purse } from '../rules/purse.js';
import type { Parts } from './parts.js';

/** They take from what the task may cost; its turns, tool calls and children are for its work alone. */
export function grantForCost(
  { config }: Parts,
  task: Task,
  wanted: readonly WantedChild[],
  known: ReadonlyMap<string, Placed | undefined>,
): WantedChild[] | Problem {
  const from = purse({
    task: { ...task, budget: forCost(task.budget) },
    agent: { budget: {} },
    config: { budget: forCost(config.budget), limits: { ...config.limits, children: Infinity } },
    own: NO_USAGE,
    children: [...known.values()].flatMap((child) => child ?? []),
  });
  const granted: WantedChild[] = [];
  for (const [at, child] of wanted.entries()) {
    const budget = from.grant(child, wanted.length - at, 1);
    if ('code' in budget) return budget;
    granted.push(isLimited(budget) ? { ...child, budget } : child);
  }
  return granted;
}

function forCost({ turns: _, toolCalls: __, children: ___, ...rest }: Budget = {}): Budget {
  return rest;
}
