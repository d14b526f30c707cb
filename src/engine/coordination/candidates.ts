/** Agents that could provide a dependency, ranked by expertise, track record and load. */
import type { Agent } from '../../domain/agent/agent.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import type { Task } from '../../domain/task/task.js';
import { rank, type Candidate } from '../../rules/coordination/provider-fitness.js';
import { recordOf, reliability } from '../../rules/staffing/track-record.js';
import type { Capacity } from '../core/capacity.js';
import type { EngineContext } from '../core/context.js';

/**
 * Candidates, best first. The asker is excluded, and so is a coordinator without matching
 * expertise. `free` is a parameter, so the open tasks are counted once for many dependencies.
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
  const onlyCoordinates = ({ agent, matches }: Candidate): boolean =>
    mode === 'hierarchical' && agent === coordinator && matches === 0;
  return ranked.filter((candidate) => !onlyCoordinates(candidate));
}

/** Agents other than the asker that are valid and not paused. */
export function others(context: EngineContext, task: Task): Agent[] {
  const paused = context.pauses.all();
  return [...context.agents.all().values()].filter(
    ({ name }) => name !== task.from && !paused?.has(name) && context.agents.fault(name) === undefined,
  );
}
