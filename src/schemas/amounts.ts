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
export function microUsd(value: unknown): number | undefined {
  const dollars = typeof value === 'string' && DOLLARS.test(value) ? Number(value.replace('$', '')) : value;
  return typeof dollars === 'number' && dollars >= 0 && Number.isFinite(dollars)
    ? Math.round(dollars * 1e6)
    : undefined;
}

type Reader = (value: unknown) => number | undefined;

/** What may stand in a budget: the spelling for people, and the exact one that records use. */
const FIELDS: Record<string, { name: BudgetName; read: Reader; want: string }> = {
  turns: { name: 'turns', read: count, want: 'a whole number, such as 30' },
  tokens: { name: 'tokens', read: count, want: 'a whole number, such as 200k' },
  usd: { name: 'microUsd', read: microUsd, want: 'dollars, such as 1.50' },
  time: { name: 'timeMs', read: durationMs, want: 'a duration, such as 10m' },
  tool_calls: { name: 'toolCalls', read: count, want: 'a whole number, such as 100' },
  toolCalls: { name: 'toolCalls', read: count, want: 'a whole number, such as 100' },
  children: { name: 'children', read: count, want: 'a whole number, such as 20' },
  micro_usd: { name: 'microUsd', read: count, want: 'a whole number of micro-dollars' },
  time_ms: { name: 'timeMs', read: count, want: 'a whole number of milliseconds' },
};

const BUDGET_KEYS = ['turns', 'tokens', 'usd', 'time', 'tool_calls', 'children'];

type BudgetRead = { ok: true; budget: Budget } | { ok: false; key: string; known: boolean; want: string };

/** Fields that are null count as absent. */
export function readBudget(given: Record<string, unknown>): BudgetRead {
  const budget: Budget = {};
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue;
    const field = Object.hasOwn(FIELDS, key) ? FIELDS[key] : undefined;
    if (field === undefined) return { ok: false, key, known: false, want: BUDGET_KEYS.join(', ') };
    const read = field.read(value);
    if (read === undefined) return { ok: false, key, known: true, want: field.want };
    budget[field.name] = read;
  }
  return { ok: true, budget };
}

/** A budget as a file writes it. */
interface BudgetWritten {
  turns?: string | number;
  tokens?: string | number;
  usd?: string | number;
  time?: string | number;
  tool_calls?: string | number;
  children?: string | number;
  micro_usd?: string | number;
  time_ms?: string | number;
}

/** Only for a budget that its schema has accepted. */
export function budgetOf(written: BudgetWritten = {}): Budget {
  const budget: Required<{ [K in BudgetName]: number | undefined }> = {
    turns: count(written.turns),
    tokens: count(written.tokens),
    microUsd: count(written.micro_usd) ?? microUsd(written.usd),
    timeMs: count(written.time_ms) ?? durationMs(written.time),
    toolCalls: count(written.tool_calls),
    children: count(written.children),
  };
  return Object.fromEntries(Object.entries(budget).filter(([, amount]) => amount !== undefined));
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
