/**
 * Tasks that a person moved by hand. Into `failed`: it is cancelled, and so is what is open under it. From `failed` back
 * into `pending`: it is tried again, and so is what failed under it. What tells a person's move from ours is the record: we
 * never leave one in `failed` without the time of its end, nor one in `pending` with it.
 */
import { HUMAN, type Placed, type Task } from '../../domain/task/task.js';
import { underWay } from '../core/ready-queue.js';
import { record, type EngineContext } from '../core/context.js';
import { failedBelow, reopen } from './retry.js';

/** True if anything changed. `gone`: tasks that are open no longer, and this process did not end them. */
export async function tendMoved(context: EngineContext, gone: readonly string[]): Promise<boolean> {
  let moved = false;
  const suspects = new Set(gone);
  for (const { task, state } of underWay(context)) {
    if (state === 'pending' && task.ended_at !== undefined) moved = (await tryAgain(context, task)) || moved;
    if (task.parent !== undefined && !context.tasks.isOpen(task.parent)) suspects.add(task.parent);
  }
  // A set grows while it is walked: whoever stands above an ended parent may be the one that was moved.
  for (const id of suspects) {
    const placed = await context.tasks.read(id);
    if (placed !== undefined && wasMoved(placed)) moved = (await cancelMoved(context, placed.task)) || moved;
    else if (placed?.task.parent !== undefined && !context.tasks.isOpen(placed.task.parent))
      suspects.add(placed.task.parent);
  }
  return moved;
}

function wasMoved({ task, state }: Placed): boolean {
  return state === 'failed' && task.ended_at === undefined;
}

/** From here it goes as any cancel goes: the intent is kept first, so that whoever finds the task open again ends it. */
async function cancelMoved(context: EngineContext, task: Task): Promise<boolean> {
  const at = context.clock.now().toISOString();
  const reason = 'cancelled: its file was moved to tasks/failed';
  await context.intents.submit({ kind: 'cancel', id: `moved-${task.id}`, task: task.id, reason, by: HUMAN, at });
  return context.tasks.reopen(task.id, task);
}

async function tryAgain(context: EngineContext, task: Task): Promise<boolean> {
  await reopen(context, await failedBelow(context, task.id), HUMAN);
  const claim = await context.tasks.claim(task.id, task.to ?? 'nobody');
  if (claim === undefined) return false;
  if (claim.task.ended_at === undefined) {
    await context.tasks.release(claim, claim.task); // somebody else has opened it again
    return false;
  }
  const { ended_at: _, error: __, waits: ___, result: ____, lost: _____, ...open } = claim.task;
  const back = await context.tasks.release(claim, { ...open, attempts: 0 });
  if (back) record(context, 'task.retried', { task: task.id, cause: HUMAN });
  return back;
}
