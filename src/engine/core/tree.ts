/** Walks the task tree. Parent links are user-editable; every walk guards against cycles. */
import type { Task } from '../../domain/task/task.js';
import { isNamedUnder } from '../../domain/task/lineage.js';
import type { OpenTask, Tasks } from '../../ports/store/tasks.js';

export async function* ancestors({ tasks }: { tasks: Pick<Tasks, 'read'> }, task: Task): AsyncGenerator<Task> {
  const seen = new Set([task.id]);
  let current: Task | undefined = task;
  while (current?.parent !== undefined && !seen.has(current.parent)) {
    seen.add(current.parent);
    current = (await tasks.read(current.parent))?.task;
    if (current !== undefined) yield current;
  }
}

export function openUnder({ tasks }: { tasks: Pick<Tasks, 'open'> }, id: string): OpenTask[] {
  const open = [...tasks.open()];
  const byId = new Map(open.map((entry) => [entry.task.id, entry]));
  const isUnder = (task: Task): boolean => {
    const seen = new Set<Task>();
    let current: Task | undefined = task;
    while (current !== undefined && !seen.has(current)) {
      if (current.id === id || isNamedUnder(current, id)) return true;
      seen.add(current);
      current = current.parent === undefined ? undefined : byId.get(current.parent)?.task;
    }
    return false;
  };
  return open.filter(({ task }) => isUnder(task));
}
