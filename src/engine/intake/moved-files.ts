/**
 * Tasks that a person moved by hand. Into `failed`: it is cancelled, and so is what is open under it. From `failed` back
 * into `pending`: it is tried again, and so is what failed under it. What tells a person's move from ours is the record: we
 * never leave one in `failed` without the time of its end, nor one in `pending` with it.
 */
import { HUMAN, type Placed, type Task } from '../../domain/task/task.js';
import { underWay } from '../core/ready-queue.js';
import { record, type Parts } from '../core/context.js';
import { failedBelow, reopen } from './retry.js';

/** True if anything changed. `gone`: tasks that are open no longer, and this process did not end them. */
export async function tendMoved(parts: Parts, gone: readonly string[]): Promise<boolean> {
  let moved = false;
  const suspects = new Set(gone);
  for (const { task, state } of underWay(parts)) {
    if (state === 'pending' && task.ended_at !== undefined) moved = (await tryAgain(parts, task)) || moved;
    if (task.parent !== undefined && !parts.store.isOpen(task.parent)) suspects.add(task.parent);
  }
  // A set grows while it is walked: whoever stands above an ended parent may be the one that was moved.
  for (const id of suspects) {
    const placed = await parts.store.read(id);
    if (placed !== undefined && wasMoved(placed)) moved = (await cancelMoved(parts, placed.task)) || moved;
    else if (placed?.task.parent !== undefined && !parts.store.isOpen(placed.task.parent))
      suspects.add(placed.task.parent);
  }
  return moved;
}

function wasMoved({ task, state }: Placed): boolean {
  return state === 'failed' && task.ended_at === undefined;
}

/** From here it goes as any cancel goes: the intent is kept first, so that whoever finds the task open again ends it. */
async function cancelMoved(parts: Parts, task: Task): Promise<boolean> {
  const at = parts.clock.now().toISOString();
  const reason = 'cancelled: its file was moved to tasks/failed';
  await parts.store.submit({ kind: 'cancel', id: `moved-${task.id}`, task: task.id, reason, by: HUMAN, at });
  return parts.store.reopen(task.id, task);
}

async function tryAgain(parts: Parts, task: Task): Promise<boolean> {
  await reopen(parts, await failedBelow(parts, task.id), HUMAN);
  const claim = await parts.store.claim(task.id, task.to ?? 'nobody');
  if (claim === undefined) return false;
  if (claim.task.ended_at === undefined) {
    await parts.store.release(claim, claim.task); // somebody else has opened it again
    return false;
  }
  const { ended_at: _, error: __, waits: ___, result: ____, lost: _____, ...open } = claim.task;
  const back = await parts.store.release(claim, { ...open, attempts: 0 });
  if (back) record(parts, 'task.retried', { task: task.id, cause: HUMAN });
  return back;
}
