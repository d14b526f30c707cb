/**
 * Tasks whose file a person moved. Moving one to `failed` cancels it and everything open below it;
 * moving it from `failed` to `pending` retries it and everything failed below it. `ended_at` shows
 * who moved it: the engine always sets it in `failed` and removes it in `pending`.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { HUMAN, type Placed, type Task } from '../../domain/task/task.js';
import { underWay } from '../core/ready-queue.js';
import { record, type EngineContext } from '../core/context.js';
import { failedBelow, reopen } from './retry.js';

/** True if anything changed. `gone`: tasks no longer open that this process did not end. */
export async function takeMovedFiles(context: EngineContext, gone: readonly string[]): Promise<boolean> {
  let moved = false;
  const suspects = new Set(gone);
  for (const { task, state } of underWay(context)) {
    if (state === 'pending' && task.ended_at !== undefined) moved = (await retryMoved(context, task)) || moved;
    if (task.parent !== undefined && !context.tasks.isOpen(task.parent)) suspects.add(task.parent);
  }
  // The set grows during the loop: an ancestor of an ended parent may be the one that was moved.
  for (const id of suspects) {
    const placed = await context.tasks.read(id, { maxAgeMs: INTERVALS.requestAgeMs });
    if (placed !== undefined && wasMoved(placed)) moved = (await cancelMoved(context, placed.task)) || moved;
    else if (placed?.task.parent !== undefined && !context.tasks.isOpen(placed.task.parent))
      suspects.add(placed.task.parent);
  }
  return moved;
}

function wasMoved({ task, state }: Placed): boolean {
  return state === 'failed' && task.ended_at === undefined;
}

/** Submits the cancel before reopening, so that any process can finish it after a crash. */
async function cancelMoved(context: EngineContext, task: Task): Promise<boolean> {
  const at = context.clock.now().toISOString();
  const reason = 'cancelled: its file was moved to tasks/failed';
  await context.intents.submit({ kind: 'cancel', id: `moved-${task.id}`, task: task.id, reason, by: HUMAN, at });
  return context.tasks.reopen(task.id, task);
}

async function retryMoved(context: EngineContext, task: Task): Promise<boolean> {
  await reopen(context, await failedBelow(context, task), HUMAN);
  const claim = await context.tasks.claim(task.id, task.to ?? 'nobody');
  if (claim === undefined) return false;
  if (claim.task.ended_at === undefined) {
    await context.tasks.release(claim, claim.task); // another process has already reopened it
    return false;
  }
  const { ended_at: _, error: __, waits: ___, result: ____, lost: _____, ...open } = claim.task;
  const again = { ...open, attempts: 0, retries: (open.retries ?? 0) + 1 };
  const isReleased = await context.tasks.release(claim, again);
  if (isReleased) record(context, 'task.retried', { task: task.id, cause: HUMAN });
  return isReleased;
}
