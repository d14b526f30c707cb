/** The ids of all tasks, by the names of their files alone: nothing is read, so it costs little however many there are. */
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import { isTaskFile, layout, parseClaimName } from '../../adapters/files/base/layout.js';
import { TASK_STATES } from '../../domain/task/task.js';

export function taskNames(folder: string): string[] {
  const on = disk();
  const l = layout(path.resolve(folder));
  return TASK_STATES.flatMap((state) =>
    on
      .list(l.tasks(state))
      .filter(isTaskFile)
      .map((name) => (state === 'active' ? parseClaimName(name)?.id : undefined) ?? path.basename(name, '.json')),
  );
}

/** Whether this is the name of one, without a look at all the others. */
export function isTaskName(folder: string, id: string): boolean {
  const on = disk();
  const l = layout(path.resolve(folder));
  if (path.basename(id) !== id) return false;
  if (TASK_STATES.some((state) => on.stamp(path.join(l.tasks(state), `${id}.json`)) !== undefined)) return true;
  return on.list(l.tasks('active')).some((name) => parseClaimName(name)?.id === id);
}
