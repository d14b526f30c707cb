/**
 * A task as JSON for programs: the keys of its file, plus its state and owner, which the file does
 * not contain.
 */
import { defined } from '../../domain/defined.js';
import type { Placed } from '../../domain/task/task.js';
import { printTask } from '../../text/records/task.js';

export function taskRecord({ task, state, owner }: Partial<Placed> & Pick<Placed, 'task'>): Record<string, unknown> {
  const record = JSON.parse(printTask(task)) as Record<string, unknown>;
  return defined({ ...record, state, owner });
}
