/** The names of the agents of a workspace; none if it cannot be read. */
import { attempt } from '../domain/attempt.js';
import { openRoster } from './readers/open-roster.js';

export function agentNames(root: string): string[] {
  return attempt(() => [...openRoster(root).agents.keys()].sort(), []);
}
