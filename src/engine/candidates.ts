/** Who could be asked for what a task needs, weighed by what they can, how their work went so far and how much room they have. */
import type { Agent } from '../domain/agent.js';
import type { Dependency } from '../domain/dependency.js';
import type { Task } from '../domain/task.js';
import { rank, type Candidate } from '../rules/provider.js';
import { recordOf, reliability } from '../rules/track-record.js';
import { room, type Room } from './free.js';
import type { Parts } from './parts.js';

/**
 * Who could provide, the best first: never the asker itself, and the coordinator only where it knows the matter. `free`: whoever asks for many
 * counts the open tasks once.
 */
export function candidatesFor(parts: Parts, task: Task, dependency: Dependency, free: Room = room(parts)): Candidate[] {
  const { coordinator, mode } = parts.config.coordination;
  const records = parts.bids?.records();
  const standings = others(parts, task).map((agent) => ({
    agent,
    reliability: records === undefined ? 1 : reliability(recordOf(records, agent.name)),
    busy: free.load(agent.name),
  }));
  const ranked = rank(task.id, dependency, standings);
  const isAside = ({ agent, matches }: Candidate): boolean =>
    mode === 'hierarchical' && agent === coordinator && matches === 0;
  return ranked.filter((one) => !isAside(one));
}

/** Agents that can be asked at all. */
export function others(parts: Parts, task: Task): Agent[] {
  const paused = parts.pauses?.all();
  return [...parts.agents.all().values()].filter(
    ({ name }) => name !== task.from && paused?.has(name) !== true && parts.agents.fault(name) === undefined,
  );
}
