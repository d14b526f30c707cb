/** Who could be asked for what a task needs, weighed by what they can, how their work went so far and how much room they have. */
import type { Agent } from '../../domain/agent/agent.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import type { Task } from '../../domain/task/task.js';
import { rank, type Candidate } from '../../rules/coordination/provider-fitness.js';
import { recordOf, reliability } from '../../rules/staffing/track-record.js';
import type { Capacity } from '../core/capacity.js';
import type { EngineContext } from '../core/context.js';

/**
 * Who could provide, the best first: never the asker itself, and the coordinator only where it knows the matter. `free`: whoever asks for many
 * counts the open tasks once.
 */
export function candidatesFor(context: EngineContext, task: Task, dependency: Dependency, free: Capacity): Candidate[] {
  const { coordinator, mode } = context.config.coordination;
  const records = context.bids.records();
  const standings = others(context, task).map((agent) => ({
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
export function others(context: EngineContext, task: Task): Agent[] {
  const paused = context.pauses.all();
  return [...context.agents.all().values()].filter(
    ({ name }) => name !== task.from && !paused?.has(name) && context.agents.fault(name) === undefined,
  );
}
