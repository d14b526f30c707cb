/**
 * Amounts as people write them: `10m` of time, `200k` tokens, 1.50 dollars, and the budget made of
 * them. A limit that cannot be read is an error everywhere; it is never ignored.
 */
import type { Budget, BudgetName } from '../domain/budget/budget.js';

/** The patterns are published in the JSON Schemas, which know no flags. */
export const DURATION = /^\s*(\d+(?:\.\d+)?)\s*([mM]?[sS]|[mMhHdD])\s*$/;
export const COUNT = /^\s*(\d+(?:[._]\d+)*)\s*([kKmM]?)\s*$/;
export const DOLLARS = /^\s*\$?\s*\d+(\.\d+)?\s*$/;

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `60s`, `10m`, `1h`, `1d`, `250ms`, or a number of seconds. Undefined if it is not a duration. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 && Number.isFinite(value) ? Math.round(value * 1000) : undefined;
  if (typeof value !== 'string') return undefined;
  const match = DURATION.exec(value);
  return match ? Math.round(Number(match[1]) * UNIT_MS[match[2]!.toLowerCase()]!) : undefined;
}

/** A whole number, also as `200k` or `1.5M`. */
export function count(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const match = COUNT.exec(value);
  if (!match) return undefined;
  const number = Number(match[1]!.replace(/_/g, '')) * { '': 1, k: 1000, m: 1_000_000 }[match[2]!.toLowerCase()]!;
  return Number.isFinite(number) ? Math.round(number) : undefined;
}

/** Dollars, also with a `$`, in whole micro-dollars. */
function microUsd(value: unknown): number | undefined {
  const dollars = typeof value === 'string' && DOLLARS.test(value) ? Number(value.replace('$', '')) : value;
  return typeof dollars === 'number' && dollars >= 0 && Number.isFinite(dollars)
    ? Math.round(dollars * 1e6)
    : undefined;
}

type Read = (value: unknown) => number | undefined;

/** The keys of a budget as people write them, and `micro_usd` and `time_ms`, which records use. */
export const BUDGET_KEYS = {
  turns: { name: 'turns', read: count, want: 'a whole number, such as 30' },
  tokens: { name: 'tokens', read: count, want: 'a whole number, such as 200k' },
  usd: { name: 'microUsd', read: microUsd, want: 'dollars, such as 1.50' },
  time: { name: 'timeMs', read: durationMs, want: 'a duration, such as 10m' },
  tool_calls: { name: 'toolCalls', read: count, want: 'a whole number, such as 100' },
  toolCalls: { name: 'toolCalls', read: count, want: 'a whole number, such as 100' },
  children: { name: 'children', read: count, want: 'a whole number, such as 20' },
  micro_usd: { name: 'microUsd', read: count, want: 'a whole number of micro-dollars' },
  time_ms: { name: 'timeMs', read: count, want: 'a whole number of milliseconds' },
} satisfies Record<string, { name: BudgetName; read: Read; want: string }>;

const LISTED = 'turns, tokens, usd, time, tool_calls, children';

type BudgetRead = { ok: true; budget: Budget } | { ok: false; key: string; known: boolean; want: string };

/** Keys that are `null` count as absent. */
export function readBudget(written: object): BudgetRead {
  const budget: Budget = {};
  for (const [key, value] of Object.entries(written)) {
    const known = Object.hasOwn(BUDGET_KEYS, key) ? BUDGET_KEYS[key as keyof typeof BUDGET_KEYS] : undefined;
    if (known === undefined) return { ok: false, key, known: false, want: LISTED };
    if (value === null || value === undefined) continue;
    const amount = known.read(value);
    if (amount === undefined) return { ok: false, key, known: true, want: known.want };
    budget[known.name] = amount;
  }
  return { ok: true, budget };
}

/** Converts a budget that its schema has accepted. */
export function budgetOf(written: object = {}): Budget {
  const read = readBudget(written);
  return read.ok ? read.budget : {};
}

/** The exact spelling, for records. */
export function printBudget(budget: Budget): Record<string, number | undefined> {
  return {
    turns: budget.turns,
    tokens: budget.tokens,
    micro_usd: budget.microUsd,
    time_ms: budget.timeMs,
    tool_calls: budget.toolCalls,
    children: budget.children,
  };
}
