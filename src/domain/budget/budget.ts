/**
 * The limits of a task with everything under it; an absent limit is unlimited here. Spending is
 * reserved first: a call reserves its estimate, a child its whole budget. So children that run in
 * parallel stay within the budget together, and an unused share returns when its child ends.
 */

// Left = budget − own spending − spending of ended children − reservations of open children. Time
// is the exception: it passes for all at once, so each child gets all that is left. There is one
// turn more than the budget says, for a last answer; a child's share includes that turn.
import type { Usage } from './usage.js';

export interface Budget {
  turns?: number;
  tokens?: number;
  microUsd?: number;
  timeMs?: number;
  toolCalls?: number;
  /** Tasks created under it, at any depth. */
  children?: number;
}

export type BudgetName = keyof Budget;

export const BUDGET_NAMES = ['turns', 'tokens', 'microUsd', 'timeMs', 'toolCalls', 'children'] as const;

/** The stricter of two budgets, limit by limit. */
export function tighter(a: Budget, b: Budget): Budget {
  const both: Budget = {};
  for (const name of BUDGET_NAMES) {
    const limit = Math.min(a[name] ?? Infinity, b[name] ?? Infinity);
    if (limit !== Infinity) both[name] = limit;
  }
  return both;
}

export interface Spending {
  /** Own usage and that of ended children. */
  spent: Usage;
  elapsedMs: number;
  /** The total that open children may spend. */
  reserved: Budget;
}

/** The rest of each limit, at least 0. */
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

/**
 * The first limit that does not allow another turn. `lastMs`: the time that a last answer needs.
 */
export function usedUp(left: Budget, lastMs = 0): BudgetName | undefined {
  // Without children left the task can still work; it just cannot ask others.
  return BUDGET_NAMES.find(
    (name) => name !== 'children' && (left[name] ?? Infinity) <= (name === 'timeMs' ? lastMs : 0),
  );
}

/**
 * A child's share of what is left: an equal share for each of the `wave` children created together
 * and for each of the `kept` shares that stay with the parent, or less if the child wants less.
 * Returns the name of a limit of which too little is left.
 */
export function carve(left: Budget, wave: number, kept: number, wanted: Budget = {}): Budget | BudgetName {
  const share = each((name) => {
    const all = left[name];
    if (all === undefined) return undefined;
    if (name === 'timeMs') return all;
    // The child itself counts as one of the children, and one turn of its share is for its last
    // answer.
    if (name === 'children') return Math.floor((all - wave) / (wave + kept));
    return Math.floor(all / (wave + kept)) - (name === 'turns' ? 1 : 0);
  });
  const short = BUDGET_NAMES.find((name) => {
    const amount = share[name];
    // A child can still answer with its last turn alone, without tool calls and children.
    const minimum = name === 'turns' || name === 'toolCalls' || name === 'children' ? 0 : 1;
    return amount !== undefined && amount < minimum;
  });
  return short ?? tighter(share, wanted);
}

/** The most that a child with this budget can cost its parent. Time is not reserved. */
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
