/** A router's choice, stored as JSON in the result of its task. */
import { parseMapping } from '../mapping.js';
import { defined } from '../defined.js';
export interface Route {
  agent: string;
  reason?: string | undefined;
  message?: string | undefined;
}

export function printRoute({ agent, reason, message }: Route): string {
  return JSON.stringify({ route_to: agent, reason: reason || undefined, message: message || undefined });
}

export function readRoute(text: string): Route | undefined {
  const { route_to: agent, reason, message } = parseMapping(text) ?? {};
  if (typeof agent !== 'string') return undefined;
  return defined<Route>({
    agent,
    reason: typeof reason === 'string' ? reason : undefined,
    message: typeof message === 'string' && message.trim() !== '' ? message : undefined,
  });
}
