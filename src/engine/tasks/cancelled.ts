/**
 * Which tasks are cancelled but not ended yet. They may not advance. They end bottom-up, so that
 * each record includes the costs of everything below it.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { isNamedUnder } from '../../domain/task/lineage.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

export async function isCancelled(context: EngineContext, task: Task): Promise<boolean> {
  return (await cancelledTasks(context))(task);
}

/** Returns this check for many tasks, so that the intents are read only once. */
export async function cancelledTasks(context: EngineContext): Promise<(task: Task) => boolean> {
  const intents = await context.intents.list({ maxAgeMs: INTERVALS.requestAgeMs });
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
