/** Walks up the task tree. */
import type { Task } from '../../domain/task/task.js';
import type { Tasks } from '../../ports/store/tasks.js';

/** Ancestors of a task, nearest first. Parent links are user-editable; guard against cycles. */
export async function* ancestors({ tasks }: { tasks: Pick<Tasks, 'read'> }, task: Task): AsyncGenerator<Task> {
  const seen = new Set([task.id]);
  let current: Task | undefined = task;
  while (current?.parent !== undefined && !seen.has(current.parent)) {
    seen.add(current.parent);
    current = (await tasks.read(current.parent))?.task;
    if (current !== undefined) yield current;
  }
}
