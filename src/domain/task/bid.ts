/** An agent's answer to an offered task, stored as JSON in the result of the bid. */
import { attempt } from '../attempt.js';
export interface Bid {
  /** Whether this agent should do it. */
  proceed: boolean;
  /** Whether the agent can do the task. */
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

/**
 * Undefined if the text is not a bid. Models without tools write JSON, sometimes in a code fence.
 */
export function readBid(text: string): Bid | undefined {
  const fenced = /^```(?:json)?\n([^]*)\n```$/.exec(text.trim());
  return attempt(() => asBid(JSON.parse(fenced?.[1] ?? text)));
}

export function asBid(value: unknown): Bid | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { proceed, able, fitness, reason } = value as Record<string, unknown>;
  if (typeof proceed !== 'boolean' || typeof able !== 'boolean' || typeof fitness !== 'number') return undefined;
  if (!Number.isInteger(fitness) || fitness < MIN_FITNESS || fitness > MAX_FITNESS) return undefined;
  return { proceed, able, fitness, reason: typeof reason === 'string' ? reason.trim() : '' };
}
