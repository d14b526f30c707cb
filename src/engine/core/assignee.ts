/** Decides which agent works on a task. */
import type { Agent } from '../../domain/agent/agent.js';
import type { Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { ENGINE, type Task } from '../../domain/task/task.js';
import { fitFor, type Fit } from '../../rules/staffing/offer.js';
import type { EngineContext } from './context.js';

/** The addressee, the only agent that fits, or the agents to ask for bids. */
export type Assignee = { agent: string; why?: string } | { offer: Agent[] } | { problem: Problem };

const MAX_CACHED_FITS = 1000;

/** Deterministic, so the answer is not stored. */
export function resolveAssignee(context: EngineContext, task: Task): Assignee {
  if (roleFacts(task.role).isSchedule) return { agent: ENGINE };
  if (task.to !== undefined) return { agent: task.to };
  const { agents, pauses, config } = context;
  const paused = pauses.all();
  const awake = paused.size > 0 ? [...agents.all().values()].filter(({ name }) => !paused.has(name)) : [];
  const fitAwake = awake.length > 0 ? fitFor(task, awake, config.defaultAgent) : undefined;
  // If only paused agents fit, the task waits until one of them is resumed.
  const fit = fitAwake === undefined || fitAwake.kind === 'nobody' ? fitOfAll(context, task) : fitAwake;
  if (fit.kind === 'several') return { offer: fit.agents };
  return fit.kind === 'one' ? { agent: fit.agent, why: fit.why } : { problem: fit.problem };
}

export function assigneeName(context: EngineContext, task: Task): string {
  const assignee = resolveAssignee(context, task);
  return 'agent' in assignee ? assignee.agent : 'nobody';
}

function fitOfAll({ agents, config, fitCache }: EngineContext, task: Task): Fit {
  const all = agents.all();
  const cached = fitCache.get(all) ?? new Map<string, Fit>();
  fitCache.set(all, cached);
  const key = JSON.stringify([config.defaultAgent, task.from, task.requirements]);
  const fit = cached.get(key) ?? fitFor(task, all.values(), config.defaultAgent);
  if (cached.size < MAX_CACHED_FITS) cached.set(key, fit);
  return fit;
}
