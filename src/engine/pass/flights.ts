/** The tasks that this process works on now, counted by agent and by root. */
import type { Flight } from '../core/flight.js';

export interface Flights {
  all: ReadonlyMap<string, Flight>;
  add(flight: Flight): void;
  remove(flight: Flight): void;
  ofAgent(agent: string): number;
  /** Whether a task of this tree is in flight. */
  hasRoot(root: string): boolean;
}

export function flightTable(): Flights {
  const all = new Map<string, Flight>();
  const agents = new Map<string, number>();
  const roots = new Map<string, number>();
  return {
    all,
    add(flight) {
      all.set(flight.task, flight);
      count(agents, flight.agent, 1);
      count(roots, flight.root, 1);
    },
    remove(flight) {
      all.delete(flight.task);
      count(agents, flight.agent, -1);
      count(roots, flight.root, -1);
    },
    ofAgent: (agent) => agents.get(agent) ?? 0,
    hasRoot: (root) => roots.has(root),
  };
}

function count(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + by;
  if (next > 0) counts.set(key, next);
  else counts.delete(key);
}
