/** Sums of the event log for each agent: what it spent, how its tasks ended, and which bids won. */
import type { EventHistory } from '../../app/readers/aggregates/open-index.js';

export interface AgentSums {
  microUsd: number;
  /** Calls of models. */
  calls: number;
  record: { done: number; failed: number };
  bids: { made: number; won: number };
}

export function noSums(): AgentSums {
  return { microUsd: 0, calls: 0, record: { done: 0, failed: 0 }, bids: { made: 0, won: 0 } };
}

export function addToSums(sums: Map<string, AgentSums>, events: EventHistory): Map<string, AgentSums> {
  const of = (agent: string): AgentSums => {
    const known = sums.get(agent);
    if (known !== undefined) return known;
    const made = noSums();
    sums.set(agent, made);
    return made;
  };
  for (const { kind, agent = '', microUsd } of events.calls()) {
    if (kind !== 'model') continue;
    const sum = of(agent);
    sum.microUsd += microUsd;
    sum.calls++;
  }
  for (const event of events.events((name) => COUNTED.has(name))) {
    if (event.name === 'task.awarded') {
      const scores = Array.isArray(event['scores']) ? (event['scores'] as { agent?: string }[]) : [];
      for (const { agent } of scores) if (typeof agent === 'string') of(agent).bids.made++;
      if (event.agent !== undefined) of(event.agent).bids.won++;
    } else if (event.agent !== undefined) {
      const { record } = of(event.agent);
      if (event.name === 'task.completed') record.done++;
      else record.failed++;
    }
  }
  return sums;
}

const COUNTED = new Set(['task.completed', 'task.failed', 'task.awarded']);
