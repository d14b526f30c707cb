/** A task as programs see it: spelled as in its file, with where it is and who holds it, which the file does not say. */
import type { Placed } from '../../domain/task/task.js';
import { printTask } from '../../text/records/task.js';

export function taskRecord({ task, state, owner }: Partial<Placed> & Pick<Placed, 'task'>): Record<string, unknown> {
  const record = JSON.parse(printTask(task)) as Record<string, unknown>;
  return { ...record, ...(state ? { state } : {}), ...(owner ? { owner } : {}) };
}
