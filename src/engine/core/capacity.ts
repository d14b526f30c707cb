/** Which agents could take one more task now: somebody hosts them, nobody paused them, and they have room. Good for one look; then it is old. */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import { underWay } from './ready-queue.js';
import type { Parts } from './context.js';

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
export async function room(parts: Parts): Promise<Room> {
  const hosted = await hostedAgents(parts);
  let counted: Map<string, number> | undefined;
  let away: Map<string, number> | undefined;
  let outstanding: number | undefined;
  const load = (agent: string): number => (counted ??= count(parts)).get(agent) ?? 0;
  const isHosted = (agent: string): boolean => hosted === 'all' || hosted.has(agent);
  return {
    load,
    elsewhere: (agent) => (away ??= claimedElsewhere(parts)).get(agent) ?? 0,
    takeBids(count) {
      outstanding ??= openBids(parts);
      if (outstanding > 0 && outstanding + count > BIDS_AHEAD * parts.config.limits.parallel) return false;
      outstanding += count;
      return true;
    },
    isHosted,
    isFree({ name, maxConcurrentTasks }) {
      if (!isHosted(name) || parts.pauses?.isPaused(name) === true) return false;
      return maxConcurrentTasks === Infinity || load(name) < maxConcurrentTasks;
    },
  };
}

const BIDS_AHEAD = 2;

function openBids(parts: Parts): number {
  let open = 0;
  for (const { task } of underWay(parts)) if (roleFacts(task.role).isBid) open++;
  return open;
}

function count(parts: Parts): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { task, state } of parts.store.open()) {
    if (task.to === undefined || state === 'waiting' || !roleFacts(task.role).takesCapacity) continue;
    // Whatever waits keeps no place: what it waits for may need that very place.
    if (state === 'pending' && parts.waits?.isHeldUp(task.id) === true) continue;
    counted.set(task.to, (counted.get(task.to) ?? 0) + 1);
  }
  return counted;
}

/** How many tasks of each agent other live processes have claimed. */
export function claimedElsewhere(parts: Parts): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { task, held, owner } of underWay(parts)) {
    if (!held || owner === undefined || owner.peer === parts.store.peer.id || !roleFacts(task.role).takesCapacity)
      continue;
    counted.set(owner.agent, (counted.get(owner.agent) ?? 0) + 1);
  }
  return counted;
}

/** Agents that any live process works for. One process that works for all is enough. */
async function hostedAgents(parts: Parts): Promise<ReadonlySet<string> | 'all'> {
  if (parts.hosts === undefined) return 'all';
  const peers = await parts.store.peers();
  if (peers.some((peer) => peer.agents.length === 0)) return 'all';
  return new Set([...parts.hosts, ...peers.flatMap((peer) => peer.agents)]);
}
