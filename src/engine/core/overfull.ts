/**
 * `max_concurrent_tasks` holds for the workspace. What other processes have in hand is known from the last scan, so two that look at the same time
 * may both find room and claim. Whoever has claimed looks at the folder once more: the later claim is put back, the earlier one stays. Where the
 * file system's clock cannot tell which was first, both are, and each tries again.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Claim } from '../../ports/store/tasks.js';
import { claimedElsewhere } from './capacity.js';
import type { EngineContext } from './context.js';
import { underWay } from './ready-queue.js';

/** `here`: how many others this process has in hand for the agent. */
export async function isOverfull(context: EngineContext, claim: Claim, here: number): Promise<boolean> {
  const { id, agent, task } = claim;
  const most = context.agents.all().get(agent)?.maxConcurrentTasks ?? Infinity;
  if (most === Infinity || !roleFacts(task.role).takesCapacity) return false;
  const all = await context.tasks.claimsFor(agent);
  const me = context.presence.peer.id;
  const mine = all.find((one) => one.task === id && one.peer === me);
  const before = all.filter((one) => one.peer !== me && (mine === undefined || one.since <= mine.since));
  return here + before.length >= most;
}

/** The same by what is known now: then it is worth another try. */
export function hasPlace(context: EngineContext, agent: string, here: number): boolean {
  const most = context.agents.all().get(agent)?.maxConcurrentTasks ?? Infinity;
  return here + (claimedElsewhere(underWay(context), context.presence.peer.id).get(agent) ?? 0) < most;
}
