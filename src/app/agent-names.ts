/** The names of the agents of a workspace; none if it cannot be read. */
import { openRoster } from './readers/open-roster.js';

export function agentNames(root: string): string[] {
  try {
    return [...openRoster(root).agents.keys()].sort();
  } catch {
    return [];
  }
}
