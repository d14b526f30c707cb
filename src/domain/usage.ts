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
}

export const NO_USAGE: Usage = Object.freeze({
  turns: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  microUsd: 0,
  busyMs: 0,
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
  };
}

export function sumUsage(all: Iterable<Partial<Usage>>): Usage {
  let sum: Usage = NO_USAGE;
  for (const one of all) sum = addUsage(sum, one);
  return sum;
}
