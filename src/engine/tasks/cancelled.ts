/**
 * What somebody cancelled and is not over yet. Nobody may go on with it, nor with what its parts came to: they are ended from the last to the
 * first, so that each record knows what all under it have cost.
 */
import { isNamedUnder } from '../../domain/task/lineage.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

/** Whether a task, or one above it, is cancelled. */
export async function isCalledOff(context: EngineContext, task: Task): Promise<boolean> {
  return (await calledOff(context))(task);
}

/** The same question for many tasks: the intents are read once, now. */
export async function calledOff(context: EngineContext): Promise<(task: Task) => boolean> {
  const intents = await context.intents.list();
  const cancelled = new Set(intents.flatMap((intent) => (intent.kind === 'cancel' ? intent.task : [])));
  return (task) => cancelled.size > 0 && isUnder(context, task, cancelled);
}

function isUnder(context: EngineContext, task: Task, cancelled: ReadonlySet<string>): boolean {
  const seen = new Set<string>();
  for (let at: Task | undefined = task; at !== undefined && !seen.has(at.id); at = parentOf(context, at)) {
    if (cancelled.has(at.id)) return true;
    seen.add(at.id); // parent links are user-editable and may form a cycle
  }
  return [...cancelled].some((id) => isNamedUnder(task, id));
}

function parentOf(context: EngineContext, { parent }: Task): Task | undefined {
  return parent === undefined ? undefined : context.tasks.getOpen(parent)?.task;
}
