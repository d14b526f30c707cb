/**
 * What somebody cancelled and is not over yet. Nobody may go on with it, nor with what its parts came to: they are ended from the last to the
 * first, so that each record knows what all under it have cost.
 */
import { isNamedUnder } from '../../domain/task/lineage.js';
import type { Task } from '../../domain/task/task.js';
import type { Parts } from '../core/context.js';

/** Whether a task, or one above it, is cancelled. */
export async function isCalledOff(parts: Parts, task: Task): Promise<boolean> {
  return (await calledOff(parts))(task);
}

/** The same question for many tasks: the intents are read once, now. */
export async function calledOff(parts: Parts): Promise<(task: Task) => boolean> {
  const intents = await parts.store.intents();
  const cancelled = new Set(intents.flatMap((intent) => (intent.kind === 'cancel' ? intent.task : [])));
  return (task) => cancelled.size > 0 && isUnder(parts, task, cancelled);
}

function isUnder(parts: Parts, task: Task, cancelled: ReadonlySet<string>): boolean {
  const seen = new Set<string>();
  for (let at: Task | undefined = task; at !== undefined && !seen.has(at.id); at = parentOf(parts, at)) {
    if (cancelled.has(at.id)) return true;
    seen.add(at.id); // parent links are user-editable and may form a cycle
  }
  return [...cancelled].some((id) => isNamedUnder(task, id));
}

function parentOf({ store }: Parts, { parent }: Task): Task | undefined {
  return parent === undefined ? undefined : store.known(parent)?.task;
}
