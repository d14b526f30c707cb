/**
 * Gives a resource back while its task goes on. It may be repeated: whoever was interrupted after it does it again, finds that the resource is
 * not theirs any more, and wakes those who wait all the same. Who is only about to wait is not missed: a request that waits for somebody who does
 * not have the resource is looked at in every pass (tend-needs.ts).
 */
import { dependencyOf } from '../../domain/coordination/dependency.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import { resourceKey } from '../../rules/coordination/wait-node.js';
import type { EngineContext } from './context.js';

/** Why it cannot be given back, if so. */
export async function giveBack(context: EngineContext, task: Task, resource: string): Promise<Problem | undefined> {
  const key = resourceKey(resource);
  const holder = await context.locks.holder(key);
  if (holder === task.id) await context.locks.release(key, task.id);
  await context.waits.lookAgain(key);
  // Among the pending they are seen by every process, and taken up by the next pass.
  for (const { task: request, state } of [...context.tasks.open()]) {
    if (state !== 'waiting' || dependencyOf(request)?.resource !== resource) continue;
    const claim = await context.tasks.claim(request.id, request.to ?? 'nobody');
    if (claim !== undefined) await context.tasks.release(claim, claim.task);
  }
  const isAnothers = holder !== undefined && holder !== task.id;
  return isAnothers ? problem('not_found', `you do not hold ${resource}; ${holder} does`) : undefined;
}
