/** Which agents can take another task: hosted by a live process, not paused, below their limit. */
import type { Agent } from '../../domain/agent/agent.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Claim, OpenTask } from '../../ports/store/tasks.js';
import type { EngineContext } from './context.js';
import { underWay } from './ready-queue.js';

/** A snapshot; take a new one for each decision. */
export interface Capacity {
  /** Tasks the agent is working on or about to start. Bids and waiting tasks do not count. */
  load(agent: string): number;
  /** How many of them other live processes have claimed. */
  elsewhere(agent: string): number;
  isFree(agent: Agent): boolean;
  /** Some live process works for the agent. */
  isHosted(agent: string): boolean;
  /**
   * Reserves room for more bids. Returns false if there is no room: bids in a long queue run out of
   * time, so many tasks are offered a few at a time.
   */
  takeBids(count: number): boolean;
}

/** The limit on open bids, as a multiple of the tasks that may advance in parallel. */
const BIDS_AHEAD = 2;

/** Counts are computed on first use. */
export async function capacity(context: EngineContext): Promise<Capacity> {
  const hosted = await hostedAgents(context);
  let loads: Map<string, number> | undefined;
  let away: Map<string, number> | undefined;
  let outstanding: number | undefined;
  const load = (agent: string): number => (loads ??= countLoads(context)).get(agent) ?? 0;
  const isHosted = (agent: string): boolean => hosted === 'all' || hosted.has(agent);
  return {
    load,
    elsewhere: (agent) => (away ??= claimedByOthers(context)).get(agent) ?? 0,
    takeBids(count) {
      outstanding ??= openBids(context);
      if (outstanding > 0 && outstanding + count > BIDS_AHEAD * context.config.limits.parallel) return false;
      outstanding += count;
      return true;
    },
    isHosted,
    isFree({ name, maxConcurrentTasks }) {
      if (!isHosted(name) || context.pauses.isPaused(name)) return false;
      return maxConcurrentTasks === Infinity || load(name) < maxConcurrentTasks;
    },
  };
}

/**
 * Checks `max_concurrent_tasks` again after a claim. Two processes may both find room and claim at
 * the same time; then the later claim is released. If the file system cannot tell which was first,
 * both are released. `here`: other tasks of this agent in this process.
 */
export async function isOverCapacity(context: EngineContext, claim: Claim, here: number): Promise<boolean> {
  const { id, agent } = claim;
  if (!hasLimit(context, claim)) return false;
  const claims = await context.tasks.claimsFor(agent);
  const me = context.presence.peer.id;
  const mine = claims.find((hold) => hold.task === id && hold.peer === me);
  const earlier = claims.filter((hold) => hold.peer !== me && (mine === undefined || hold.since <= mine.since));
  return here + earlier.length >= maxTasks(context, agent);
}

/** Whether `max_concurrent_tasks` of its agent counts this task. */
export function hasLimit(context: EngineContext, { agent, task }: Claim): boolean {
  return maxTasks(context, agent) !== Infinity && roleFacts(task.role).takesCapacity;
}

/** The agent's limit, for a store that refuses a claim beyond it. */
export function claimLimit(context: EngineContext, agent: string): { atMost?: number } {
  const atMost = maxTasks(context, agent);
  return atMost === Infinity ? {} : { atMost };
}

/** Like `isOverCapacity`, from the last scan alone: whether a claim is worth trying. */
export function hasCapacity(context: EngineContext, agent: string, here: number): boolean {
  return here + (claimedByOthers(context).get(agent) ?? 0) < maxTasks(context, agent);
}

/** Number of tasks of each agent that processes other than `me` have claimed. */
export function claimedElsewhere(open: Iterable<OpenTask>, me: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { task, held, owner } of open) {
    if (!held || owner === undefined || owner.peer === me || !roleFacts(task.role).takesCapacity) continue;
    counts.set(owner.agent, (counts.get(owner.agent) ?? 0) + 1);
  }
  return counts;
}

function claimedByOthers(context: EngineContext): Map<string, number> {
  return claimedElsewhere(underWay(context), context.presence.peer.id);
}

function maxTasks(context: EngineContext, agent: string): number {
  return context.agents.all().get(agent)?.maxConcurrentTasks ?? Infinity;
}

function openBids(context: EngineContext): number {
  let open = 0;
  for (const { task } of underWay(context)) if (roleFacts(task.role).isBid) open++;
  return open;
}

function countLoads(context: EngineContext): Map<string, number> {
  const loads = new Map<string, number>();
  for (const { task, state } of context.tasks.open()) {
    if (task.to === undefined || state === 'waiting' || !roleFacts(task.role).takesCapacity) continue;
    // A blocked task takes no capacity: the task it waits for may need it.
    if (state === 'pending' && context.waits.isHeldUp(task.id)) continue;
    loads.set(task.to, (loads.get(task.to) ?? 0) + 1);
  }
  return loads;
}

/** If one process works for all agents, all of them have a host. */
async function hostedAgents(context: EngineContext): Promise<ReadonlySet<string> | 'all'> {
  if (context.hosts === undefined) return 'all';
  const peers = await context.presence.peers();
  if (peers.some((peer) => peer.agents.length === 0)) return 'all';
  return new Set([...context.hosts, ...peers.flatMap((peer) => peer.agents)]);
}
