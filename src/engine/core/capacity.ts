/** Which agents could take one more task now: somebody hosts them, nobody paused them, and they have room. Good for one look; then it is old. */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import { underWay } from './ready-queue.js';
import type { OpenTask } from '../../ports/store/tasks.js';
import type { EngineContext } from './context.js';

export interface Room {
  /** How many tasks it has in hand or before it; bids do not count, and neither does what waits for others. */
  load(agent: string): number;
  /** How many of them other live processes have in hand. */
  elsewhere(agent: string): number;
  isFree(agent: Agent): boolean;
  /** Some live process works for it. */
  isHosted(agent: string): boolean;
  /**
   * Whether so many more bids can be made soon, and if so, they count as asked for. Bids that wait behind others run out of time, so a flood of
   * tasks is offered bit by bit.
   */
  takeBids(count: number): boolean;
}

/** Nothing is counted before somebody asks. */
export async function room(context: EngineContext): Promise<Room> {
  const hosted = await hostedAgents(context);
  let counted: Map<string, number> | undefined;
  let away: Map<string, number> | undefined;
  let outstanding: number | undefined;
  const load = (agent: string): number => (counted ??= count(context)).get(agent) ?? 0;
  const isHosted = (agent: string): boolean => hosted === 'all' || hosted.has(agent);
  return {
    load,
    elsewhere: (agent) => (away ??= claimedElsewhere(underWay(context), context.presence.peer.id)).get(agent) ?? 0,
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

const BIDS_AHEAD = 2;

function openBids(context: EngineContext): number {
  let open = 0;
  for (const { task } of underWay(context)) if (roleFacts(task.role).isBid) open++;
  return open;
}

function count(context: EngineContext): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { task, state } of context.tasks.open()) {
    if (task.to === undefined || state === 'waiting' || !roleFacts(task.role).takesCapacity) continue;
    // Whatever waits keeps no place: what it waits for may need that very place.
    if (state === 'pending' && context.waits.isHeldUp(task.id)) continue;
    counted.set(task.to, (counted.get(task.to) ?? 0) + 1);
  }
  return counted;
}

/** How many tasks of each agent other live processes have claimed. */
export function claimedElsewhere(open: Iterable<OpenTask>, me: string): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { task, held, owner } of open) {
    if (!held || owner === undefined || owner.peer === me || !roleFacts(task.role).takesCapacity) continue;
    counted.set(owner.agent, (counted.get(owner.agent) ?? 0) + 1);
  }
  return counted;
}

/** Agents that any live process works for. One process that works for all is enough. */
async function hostedAgents(context: EngineContext): Promise<ReadonlySet<string> | 'all'> {
  if (context.hosts === undefined) return 'all';
  const peers = await context.presence.peers();
  if (peers.some((peer) => peer.agents.length === 0)) return 'all';
  return new Set([...context.hosts, ...peers.flatMap((peer) => peer.agents)]);
}
