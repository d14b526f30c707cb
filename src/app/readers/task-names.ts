/**
 * The ids of all tasks, from the names of their files. No file is read, so it is cheap for any
 * number of tasks.
 */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { isTaskFile, layout, parseClaimName } from '../../adapters/files/base/layout.js';
import { TASK_STATES } from '../../domain/task/task.js';

export function taskNames(folder: string): string[] {
  const disk = realDisk();
  const paths = layout(path.resolve(folder));
  return TASK_STATES.flatMap((state) =>
    disk
      .list(paths.tasks(state))
      .filter(isTaskFile)
      .map((name) => (state === 'active' ? parseClaimName(name)?.id : undefined) ?? path.basename(name, '.json')),
  );
}

/** Whether a task has this id, without listing all tasks. */
export function isTaskName(folder: string, id: string): boolean {
  const disk = realDisk();
  const paths = layout(path.resolve(folder));
  if (path.basename(id) !== id) return false;
  if (TASK_STATES.some((state) => disk.stamp(path.join(paths.tasks(state), `${id}.json`)) !== undefined)) return true;
  return disk.list(paths.tasks('active')).some((name) => parseClaimName(name)?.id === id);
}
