/** Those above a task, the nearest first, as their records are now. A circle of parents is damage that a person made; it must not hang us. */
import type { Task } from '../../domain/task/task.js';
import type { Store } from '../../ports/store.js';

export async function* above(store: Store, task: Task): AsyncGenerator<Task> {
  const seen = new Set([task.id]);
  let at: Task | undefined = task;
  while (at?.parent !== undefined && !seen.has(at.parent)) {
    seen.add(at.parent);
    at = (await store.read(at.parent))?.task;
    if (at !== undefined) yield at;
  }
}
