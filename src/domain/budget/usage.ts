/** The cost of work so far. Money is in whole micro-dollars, so sums are exact. */
export interface Usage {
  turns: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  /** Part of inputTokens that the provider had cached. */
  cachedTokens: number;
  microUsd: number;
  /** Time inside model and tool calls; children that run in parallel add up. */
  busyMs: number;
  /** Tasks created under it, at any depth; questions to people do not count. */
  children: number;
}

export const NO_USAGE: Usage = Object.freeze({
  turns: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  microUsd: 0,
  busyMs: 0,
  children: 0,
});

export function addUsage(a: Usage, b: Partial<Usage>): Usage {
  return {
    turns: a.turns + (b.turns ?? 0),
    toolCalls: a.toolCalls + (b.toolCalls ?? 0),
    inputTokens: a.inputTokens + (b.inputTokens ?? 0),
    outputTokens: a.outputTokens + (b.outputTokens ?? 0),
    cachedTokens: a.cachedTokens + (b.cachedTokens ?? 0),
    microUsd: a.microUsd + (b.microUsd ?? 0),
    busyMs: a.busyMs + (b.busyMs ?? 0),
    children: a.children + (b.children ?? 0),
  };
}

export function sumUsage(all: Iterable<Partial<Usage>>): Usage {
  let sum: Usage = NO_USAGE;
  for (const usage of all) sum = addUsage(sum, usage);
  return sum;
}

export function subtractUsage(a: Usage, b: Usage): Usage {
  const less = Object.fromEntries(Object.entries(b).map(([name, value]) => [name, -(value as number)]));
  return addUsage(a, less);
}

/** Exact, so that displayed sums add up: four decimals, or six if needed. */
export function moneyText(microUsd: number): string {
  return `$${(microUsd / 1e6).toFixed(microUsd % 100 === 0 ? 4 : 6)}`;
}

/** A sum that lacks the cost of some calls. */
export function partialMoneyText(microUsd: number, unpricedCalls: number, money = moneyText(microUsd)): string {
  if (unpricedCalls === 0) return money;
  return microUsd === 0 ? 'price unknown' : `${money} + unknown`;
}

/** With the field names of records and events. */
export function usageFields(usage: Usage): Record<string, number> {
  return {
    turns: usage.turns,
    tool_calls: usage.toolCalls,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    micro_usd: usage.microUsd,
    busy_ms: usage.busyMs,
    ...(usage.children > 0 ? { children: usage.children } : {}),
  };
}
