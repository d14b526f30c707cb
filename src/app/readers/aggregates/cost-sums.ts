/** Costs of model and tool calls, summed from the event log by agent, task, model, role or day. */
import { compareText } from '../../../domain/order.js';
import { kinIn } from '../../../domain/task/lineage.js';
import { localDay } from '../../../views/local-time.js';
import type { CallSeen, EventHistory } from '../../../ports/aggregates/event-index.js';

export const BY = ['agent', 'task', 'model', 'role', 'day'] as const;
export type CostBy = (typeof BY)[number];

export interface CostSum {
  key: string;
  calls: number;
  tool_calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  micro_usd: number;
  /** Calls of models whose price is not known; their cost is not in micro_usd. */
  unpriced_calls: number;
  ms: number;
}

interface CostSums {
  rows: CostSum[];
  /** Models whose price is not known. */
  unpriced: string[];
}

/** `since`: an ISO time, or empty for all. */
export function costSums(events: EventHistory, by: CostBy, since: string): CostSums {
  const { rootOf } = kinIn(by === 'task' ? events.lineage() : []);
  const rows = new Map<string, CostSum>();
  const unpriced = new Set<string>();
  for (const call of events.calls(since)) {
    if (call.isUnpriced) unpriced.add(String(call.model));
    if (call.kind === 'tool' && by === 'model') continue;
    const key = by === 'task' ? rootOf(call.task ?? '-') : keyOf(call, by);
    const row = rows.get(key) ?? noCosts(key);
    rows.set(key, row);
    addCall(row, call);
  }
  const sorted = [...rows.values()].sort((a, b) =>
    by === 'day'
      ? compareText(a.key, b.key)
      : b.micro_usd - a.micro_usd || b.calls - a.calls || compareText(a.key, b.key),
  );
  return { rows: sorted, unpriced: [...unpriced].sort(compareText) };
}

function keyOf(call: CallSeen, by: Exclude<CostBy, 'task'>): string {
  return by === 'day' ? localDay(call.at) : (call[by] ?? '-');
}

function addCall(sum: CostSum, call: CallSeen): void {
  sum.ms += call.ms;
  if (call.kind === 'tool') {
    sum.tool_calls++;
    return;
  }
  sum.calls++;
  sum.input_tokens += call.inputTokens;
  sum.output_tokens += call.outputTokens;
  sum.cached_tokens += call.cachedTokens;
  sum.micro_usd += call.microUsd;
  if (call.isUnpriced) sum.unpriced_calls++;
}

export function noCosts(key: string): CostSum {
  return {
    key,
    calls: 0,
    tool_calls: 0,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    micro_usd: 0,
    unpriced_calls: 0,
    ms: 0,
  };
}

export function addCosts(sum: CostSum, more: CostSum): void {
  sum.calls += more.calls;
  sum.tool_calls += more.tool_calls;
  sum.input_tokens += more.input_tokens;
  sum.output_tokens += more.output_tokens;
  sum.cached_tokens += more.cached_tokens;
  sum.micro_usd += more.micro_usd;
  sum.unpriced_calls += more.unpriced_calls;
  sum.ms += more.ms;
}
