/**
 * What a task may spend. A limit that is absent is not limited here, but the workspace's own limits still hold.
 * Budgets are checked before money is spent, never after.
 */
import type { Usage } from './usage.js';

export interface Budget {
  turns?: number;
  tokens?: number;
  microUsd?: number;
  timeMs?: number;
  toolCalls?: number;
}

export type BudgetName = keyof Budget;

/** The first budget that is used up, or undefined while there is room for one more turn. */
export function usedUp(budget: Budget, usage: Usage, elapsedMs: number): BudgetName | undefined {
  if (budget.turns !== undefined && usage.turns >= budget.turns) return 'turns';
  if (budget.tokens !== undefined && usage.inputTokens + usage.outputTokens >= budget.tokens) return 'tokens';
  if (budget.microUsd !== undefined && usage.microUsd >= budget.microUsd) return 'microUsd';
  if (budget.timeMs !== undefined && elapsedMs >= budget.timeMs) return 'timeMs';
  if (budget.toolCalls !== undefined && usage.toolCalls >= budget.toolCalls) return 'toolCalls';
  return undefined;
}

/** The stricter of two budgets, limit by limit. */
export function tighter(a: Budget, b: Budget): Budget {
  const both: Budget = {};
  for (const name of ['turns', 'tokens', 'microUsd', 'timeMs', 'toolCalls'] as const) {
    const least = Math.min(a[name] ?? Infinity, b[name] ?? Infinity);
    if (least !== Infinity) both[name] = least;
  }
  return both;
}

const WORDS: Record<BudgetName, string> = {
  turns: 'turns',
  tokens: 'tokens',
  microUsd: 'money',
  timeMs: 'time',
  toolCalls: 'tool calls',
};

export function budgetWord(name: BudgetName): string {
  return WORDS[name];
}
