/** What an agent says about a task that is offered, and how it stands in the result of its bid. */
export interface Bid {
  /** After reflection: whether it should be this agent that does it. */
  proceed: boolean;
  /** Whether it has what the task needs. */
  able: boolean;
  /** 1 to 10. */
  fitness: number;
  reason: string;
}

export const MIN_FITNESS = 1;
export const MAX_FITNESS = 10;

export function printBid({ proceed, able, fitness, reason }: Bid): string {
  return JSON.stringify({ proceed, able, fitness, reason });
}

/** Undefined if the text is no bid. Models without tools write it as JSON, at times in a code fence; anything vaguer is none. */
export function readBid(text: string): Bid | undefined {
  const fenced = /^```(?:json)?\n([^]*)\n```$/.exec(text.trim());
  try {
    return asBid(JSON.parse(fenced?.[1] ?? text));
  } catch {
    return undefined;
  }
}

export function asBid(said: unknown): Bid | undefined {
  if (typeof said !== 'object' || said === null) return undefined;
  const { proceed, able, fitness, reason } = said as Record<string, unknown>;
  if (typeof proceed !== 'boolean' || typeof able !== 'boolean' || typeof fitness !== 'number') return undefined;
  if (!Number.isInteger(fitness) || fitness < MIN_FITNESS || fitness > MAX_FITNESS) return undefined;
  return { proceed, able, fitness, reason: typeof reason === 'string' ? reason.trim() : '' };
}
