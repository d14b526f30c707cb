/** Who could be asked for what a task needs, weighed by what they can, how their work went so far and how much room they have. */
import type { Agent } from '../../domain/agent/agent.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import type { Task } from '../../domain/task/task.js';
import { rank, type Candidate } from '../../rules/coordination/provider-fitness.js';
import { recordOf, reliability } from '../../rules/staffing/track-record.js';
import type { Room } from '../core/capacity.js';
import type { Parts } from '../core/context.js';

/**
 * Who could provide, the best first: never the asker itself, and the coordinator only where it knows the matter. `free`: whoever asks for many
 * counts the open tasks once.
 */
export function candidatesFor(parts: Parts, task: Task, dependency: Dependency, free: Room): Candidate[] {
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
