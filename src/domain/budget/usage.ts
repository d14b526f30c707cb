/** What work has cost so far. Adding up is exact for counts; money is kept in whole micro-dollars for that reason. */
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
  /** Tasks made under it, at any depth; what people are asked does not count. */
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
  for (const one of all) sum = addUsage(sum, one);
  return sum;
}

export function subtractUsage(a: Usage, b: Usage): Usage {
  const less = Object.fromEntries(Object.entries(b).map(([name, value]) => [name, -(value as number)]));
  return addUsage(a, less);
}

/** Exactly, so that what is shown adds up too: four places of a dollar, or six where it has them. */
export function moneyText(microUsd: number): string {
  return `$${(microUsd / 1e6).toFixed(microUsd % 100 === 0 ? 4 : 6)}`;
}

/** A sum of money in which the cost of some calls is missing. */
export function partialMoneyText(microUsd: number, unpricedCalls: number, money = moneyText(microUsd)): string {
  if (unpricedCalls === 0) return money;
  return microUsd === 0 ? 'price unknown' : `${money} + unknown`;
}

/** As records and events spell it. */
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
