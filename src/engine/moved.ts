/**
 * Tasks that a person moved by hand. Into `failed`: it is cancelled, and so is what is open under it. From `failed` back
 * into `pending`: it is tried again, and so is what failed under it. What tells a person's move from ours is the record: we
 * never leave one in `failed` without the time of its end, nor one in `pending` with it.
 */
import { problem } from '../domain/problem.js';
import { HUMAN, type Placed, type Task } from '../domain/task.js';
import { costsAtRest } from './account.js';
import { fail } from './end.js';
import type { Flight } from './flight.js';
import { cancelOne, openUnder } from './intake.js';
import { record, type Parts } from './parts.js';
import { failedBelow, reopen } from './retry.js';

/** True if anything changed. `gone`: tasks that are open no longer, and this process did not end them. */
export async function tendMoved(
  parts: Parts,
  gone: readonly string[],
  flights: ReadonlyMap<string, Flight>,
): Promise<boolean> {
  let moved = false;
  const suspects = new Set(gone);
  for (const { task, state } of parts.store.open()) {
    if (state === 'pending' && task.ended_at !== undefined) moved = (await tryAgain(parts, task)) || moved;
    if (task.parent !== undefined && !parts.store.isOpen(task.parent)) suspects.add(task.parent);
  }
  // A set grows while it is walked: whoever stands above an ended parent may be the one that was moved.
  for (const id of suspects) {
    const placed = await parts.store.read(id);
    if (placed !== undefined && wasMoved(placed)) moved = (await cancelMoved(parts, placed.task, flights)) || moved;
    else if (placed?.task.parent !== undefined && !parts.store.isOpen(placed.task.parent))
      suspects.add(placed.task.parent);
  }
  return moved;
}

function wasMoved({ task, state }: Placed): boolean {
  return state === 'failed' && task.ended_at === undefined;
}

/** What is under it first: as long as any of it is open, the move can be seen. Then its own record is made whole. */
async function cancelMoved(parts: Parts, task: Task, flights: ReadonlyMap<string, Flight>): Promise<boolean> {
  const error = problem('cancelled', 'cancelled: its file was moved to tasks/failed', {
    hint: 'move it back to tasks/pending, or retry it, to go on from where it stopped',
  });
  let moved = false;
  for (const one of openUnder(parts, task.id).sort((a, b) => a.task.depth - b.task.depth))
    moved = (await cancelOne(parts, one.task, error, flights)) || moved;
  if (openUnder(parts, task.id).length > 0 || !(await parts.store.reopen(task.id, task))) return moved;
  const claim = parts.store.claim(task.id, task.to ?? HUMAN);
  if (claim !== undefined) await fail(parts, claim, claim.task, error, await costsAtRest(parts, claim.task));
  return true;
}

async function tryAgain(parts: Parts, task: Task): Promise<boolean> {
  await reopen(parts, await failedBelow(parts, task.id), HUMAN);
  const claim = parts.store.claim(task.id, task.to ?? 'nobody');
  if (claim === undefined) return false;
  const { ended_at: _, error: __, waits: ___, result: ____, ...open } = claim.task;
  const back = await parts.store.release(claim, { ...open, attempts: 0 });
  if (back) record(parts, 'task.retried', { task: task.id, cause: HUMAN });
  return back;
}
