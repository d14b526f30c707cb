/**
 * What somebody cancelled and is not over yet. Nobody may go on with it, nor with what its parts came to: they are ended from the last to the
 * first, so that each record knows what all under it have cost.
 */
import { isNamedUnder } from '../../domain/task/lineage.js';
import type { Task } from '../../domain/task/task.js';
import type { Parts } from '../core/context.js';

/** Whether a task, or one above it, is cancelled. Costs a look at one folder as long as nothing is. */
export function isCalledOff(parts: Parts, task: Task): boolean {
  const cancelled = new Set(parts.store.intents().flatMap((one) => (one.kind === 'cancel' ? one.task : [])));
  if (cancelled.size === 0) return false;
  const seen = new Set<string>();
  for (let at: Task | undefined = task; at !== undefined && !seen.has(at.id); at = parentOf(parts, at)) {
    if (cancelled.has(at.id)) return true;
    seen.add(at.id); // parents that a person wrote may go round in a circle
  }
  return [...cancelled].some((id) => isNamedUnder(task, id));
}

function parentOf({ store }: Parts, { parent }: Task): Task | undefined {
  return parent === undefined ? undefined : store.known(parent)?.task;
}
