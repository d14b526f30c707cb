/**
 * Releases a resource before its task ends, and wakes the requests that wait for it. Safe to repeat
 * after a crash. A request that starts to wait at the same moment is found by the next pass, which
 * checks every request whose holder no longer has the resource (`coordination/needs-sweep`).
 */
import { dependencyOf } from '../../domain/coordination/dependency.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import { resourceKey } from '../../rules/coordination/wait-node.js';
import type { EngineContext } from './context.js';

/** Returns the problem if another task holds the resource. */
export async function releaseResource(
  context: EngineContext,
  task: Task,
  resource: string,
): Promise<Problem | undefined> {
  const key = resourceKey(resource);
  const holder = await context.locks.holder(key);
  if (holder === task.id) await context.locks.release(key, task.id);
  await context.waits.lookAgain(key);
  // As pending tasks they are visible to every process, and the next pass continues them.
  for (const { task: request, state } of [...context.tasks.open()]) {
    if (state !== 'waiting' || dependencyOf(request)?.resource !== resource) continue;
    const claim = await context.tasks.claim(request.id, request.to ?? 'nobody');
    if (claim !== undefined) await context.tasks.release(claim, claim.task);
  }
  const isAnothers = holder !== undefined && holder !== task.id;
  return isAnothers ? problem('not_found', `you do not hold ${resource}; ${holder} does`) : undefined;
}
