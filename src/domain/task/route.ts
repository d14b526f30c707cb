/** A router's choice, stored as JSON in the result of its task. */
import { defined } from '../defined.js';
export interface Route {
  agent: string;
  reason?: string | undefined;
  message?: string | undefined;
}

export function printRoute({ agent, reason, message }: Route): string {
  return JSON.stringify({ route_to: agent, reason: reason || undefined, message: message || undefined });
}

/** Undefined if the text is not a choice. */
export function readRoute(text: string): Route | undefined {
  try {
    const { route_to: agent, reason, message } = JSON.parse(text) as Record<string, unknown>;
    if (typeof agent !== 'string') return undefined;
    return defined<Route>({
      agent,
      reason: typeof reason === 'string' ? reason : undefined,
      message: typeof message === 'string' && message.trim() !== '' ? message : undefined,
    });
  } catch {
    return undefined;
  }
}
