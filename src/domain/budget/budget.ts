/**
 * What a task may spend, with everything under it. A limit that is absent is not limited here, but the workspace's own
 * limits still hold. Nothing is spent that was not reserved: a call reserves its estimate, a child its whole budget. What a
 * task has left is its budget, less what it spent, less what its ended children spent, less what its open ones may still
 * spend; so whatever children do at the same time, together they stay within it, and what one does not use comes back.
 *
 * Time is the exception: it passes for all at once, so each child gets all that is left of it. Turns have one more than the
 * budget says, for a last answer in words; a child's share has that turn in it.
 */
import type { Usage } from './usage.js';

export interface Budget {
  turns?: number;
  tokens?: number;
  microUsd?: number;
  timeMs?: number;
  toolCalls?: number;
  /** Tasks made under it, at any depth. */
  children?: number;
}

export type BudgetName = keyof Budget;

export const BUDGET_NAMES = ['turns', 'tokens', 'microUsd', 'timeMs', 'toolCalls', 'children'] as const;

/** The stricter of two budgets, limit by limit. */
export function tighter(a: Budget, b: Budget): Budget {
  return each((name) => {
    const least = Math.min(a[name] ?? Infinity, b[name] ?? Infinity);
    return least === Infinity ? undefined : least;
  });
}

export interface Spending {
  /** Own usage and that of ended children. */
  spent: Usage;
  elapsedMs: number;
  /** What open children may spend in all. */
  reserved: Budget;
}

/** What is left, limit by limit; never below nothing. */
export function leftOf(budget: Budget, { spent, elapsedMs, reserved }: Spending): Budget {
  const used: Required<Budget> = {
    turns: spent.turns,
    tokens: spent.inputTokens + spent.outputTokens,
    microUsd: spent.microUsd,
    timeMs: elapsedMs,
    toolCalls: spent.toolCalls,
    children: spent.children,
  };
  return each((name) => {
    const limit = budget[name];
    return limit === undefined ? undefined : Math.max(0, limit - used[name] - (reserved[name] ?? 0));
  });
}

/** The first limit that leaves no room for one more turn. `lastMs`: the time that a last answer needs. */
export function usedUp(left: Budget, lastMs = 0): BudgetName | undefined {
  // No children left is no reason to stop: it only means that nobody else can be asked.
  return BUDGET_NAMES.find(
    (name) => name !== 'children' && (left[name] ?? Infinity) <= (name === 'timeMs' ? lastMs : 0),
  );
}

/**
 * One child's share of what is left: an equal part for each of `wave` children that are made together and for each of
 * `kept` parts that stay with the parent, or less where the child wants less. The name of a limit: too little is left.
 */
export function carve(left: Budget, wave: number, kept: number, wanted: Budget = {}): Budget | BudgetName {
  const share = each((name) => {
    const all = left[name];
    if (all === undefined) return undefined;
    if (name === 'timeMs') return all;
    // A child is one of the children itself, and a turn of its share is for its last answer.
    if (name === 'children') return Math.floor((all - wave) / (wave + kept));
    return Math.floor(all / (wave + kept)) - (name === 'turns' ? 1 : 0);
  });
  const short = BUDGET_NAMES.find((name) => {
    const part = share[name];
    // With no tool call and no child of its own, and with the last turn only, a child can still answer.
    const least = name === 'turns' || name === 'toolCalls' || name === 'children' ? 0 : 1;
    return part !== undefined && part < least;
  });
  return short ?? tighter(share, wanted);
}

/** What a child with this budget can cost its parent at most. Time is not taken from anybody. */
export function reservation(budget: Budget = {}): Budget {
  const { timeMs: _, turns, children, ...rest } = budget;
  return {
    ...rest,
    ...(turns === undefined ? {} : { turns: turns + 1 }),
    children: (children ?? 0) + 1,
  };
}

export function addBudgets(a: Budget, b: Budget): Budget {
  return each((name) => (a[name] === undefined && b[name] === undefined ? undefined : (a[name] ?? 0) + (b[name] ?? 0)));
}

export function isLimited(budget: Budget): boolean {
  return BUDGET_NAMES.some((name) => budget[name] !== undefined);
}

const WORDS: Record<BudgetName, string> = {
  turns: 'turns',
  tokens: 'tokens',
  microUsd: 'money',
  timeMs: 'time',
  toolCalls: 'tool calls',
  children: 'children',
};

export function budgetWord(name: BudgetName): string {
  return WORDS[name];
}

function each(amount: (name: BudgetName) => number | undefined): Budget {
  const budget: Budget = {};
  for (const name of BUDGET_NAMES) {
    const value = amount(name);
    if (value !== undefined) budget[name] = value;
  }
  return budget;
}
