/** Costs by agent, model, task, role or day, and the budgets of open tasks. */
import { addCosts, BY, costSums, noCosts, type CostBy, type CostSum } from '../../app/readers/aggregates/cost-sums.js';
import type { Snapshot } from '../../app/readers/open-states.js';
import { problem, ProblemError } from '../../domain/problem.js';
import type { CostRow, Costs } from '../base/contract.js';
import type { Log } from '../base/log.js';
import { budgetsOf } from './budgets.js';

const ROWS_MAX = 500;
const KEYS_MAX = 6;
const DAYS_MAX = 92;
const DAY_MS = 86_400_000;

/** `days`: how many days back, today included. */
export function costsBy(log: Log, seen: Snapshot, by: string, days: number, now: Date): Costs {
  if (!BY.includes(by as CostBy))
    throw new ProblemError(problem('bad_usage', `costs are summed by ${BY.join(', ')}, not by ${JSON.stringify(by)}`));
  const shown = Math.min(DAYS_MAX, Math.max(1, days));
  const since = dayOf(new Date(now.getTime() - (shown - 1) * DAY_MS).toISOString());
  const { rows } = costSums(log, by as CostBy, since);
  const total = noCosts('total');
  for (const row of rows) addCosts(total, row);
  const parts = by === 'day' ? 'model' : (by as Exclude<CostBy, 'day'>);
  return {
    by,
    rows: rows.slice(0, ROWS_MAX).map(costRow),
    total: costRow(total),
    ...daysBy(log, parts, since, now),
    budgets: budgetsOf(seen),
  };
}

function daysBy(log: Log, by: string, since: string, now: Date): Pick<Costs, 'keys' | 'days'> {
  const sums = new Map<string, Map<string, number>>();
  const totals = new Map<string, number>();
  for (const call of log.calls(since)) {
    if (call.kind !== 'model') continue;
    const key = (call[by as 'agent' | 'model' | 'task' | 'role'] ?? '') || '(none)';
    const day = sums.get(dayOf(call.at)) ?? new Map<string, number>();
    sums.set(dayOf(call.at), day.set(key, (day.get(key) ?? 0) + call.microUsd));
    totals.set(key, (totals.get(key) ?? 0) + call.microUsd);
  }
  const ranked = [...totals].sort((a, b) => b[1] - a[1]).map(([key]) => key);
  const keys = ranked.slice(0, KEYS_MAX);
  const others = new Set(ranked.slice(KEYS_MAX));
  const days: Costs['days'] = [];
  for (let at = Date.parse(since); at <= now.getTime(); at += DAY_MS) {
    const day = dayOf(new Date(at).toISOString());
    const values = keys.map((key) => sums.get(day)?.get(key) ?? 0);
    const rest = [...(sums.get(day) ?? [])].reduce((sum, [key, value]) => sum + (others.has(key) ? value : 0), 0);
    days.push({ day, values: others.size === 0 ? values : [...values, rest] });
  }
  return { keys: others.size === 0 ? keys : [...keys, `${others.size} others`], days };
}

function dayOf(iso: string): string {
  return iso.slice(0, 10);
}

function costRow(sum: CostSum): CostRow {
  return {
    key: sum.key,
    calls: sum.calls,
    toolCalls: sum.tool_calls,
    tokens: sum.input_tokens + sum.output_tokens,
    microUsd: sum.micro_usd,
    unpricedCalls: sum.unpriced_calls,
    ms: sum.ms,
  };
}
