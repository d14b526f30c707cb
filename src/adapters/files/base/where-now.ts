/** Where a task is on the disk now. Other processes may move it meanwhile. */
import path from 'node:path';
import { fenced, isUnreadable } from '../../../domain/fence.js';
import type { EndedState, OpenState } from '../../../domain/task/task.js';
import type { Disk } from '../../../ports/disk.js';
import { parseClaimName, type Layout } from './layout.js';
import { lookThoroughly } from './look-thoroughly.js';

type Place = { state: OpenState; file: string } | EndedState;

export function whereNow(disk: Disk, layout: Layout, id: string): Place | undefined {
  return lookThoroughly(
    () => lookOnce(disk, layout, id),
    () => false,
  );
}

function lookOnce(disk: Disk, layout: Layout, id: string): Place | undefined {
  const isThere = (file: string): boolean => fenced(file, () => disk.stamp(file)) !== undefined;
  // The folder may not be searched, so the task may have ended. If it has not, the next full scan
  // finds it.
  for (const state of ['completed', 'failed'] as const) if (isThere(layout.task(state, id))) return state;
  for (const state of ['pending', 'waiting'] as const) {
    const file = layout.task(state, id);
    if (isThere(file)) return { state, file };
  }
  const file = fenced('tasks/active', () => claimOf(disk, layout, id));
  return file === undefined || isUnreadable(file) ? undefined : { state: 'active', file };
}

/** The file of the claim of this task, also while it is being settled. */
export function claimOf(disk: Pick<Disk, 'list'>, layout: Pick<Layout, 'tasks'>, id: string): string | undefined {
  const folder = layout.tasks('active');
  const name = disk.list(folder).find((each) => each.startsWith(`${id}_`) && parseClaimName(each)?.id === id);
  return name && path.join(folder, name);
}

/** Not fenced: a task that may have ended must not be created or worked on again. */
export function hasEnded(disk: Pick<Disk, 'stamp'>, layout: Pick<Layout, 'task'>, id: string): boolean {
  return disk.stamp(layout.task('completed', id)) !== undefined || disk.stamp(layout.task('failed', id)) !== undefined;
}

/** Also undefined for a file in a folder that may not be searched. */
export function readableStamp(disk: Pick<Disk, 'stamp'>, file: string): string | undefined {
  const stamp = fenced(file, () => disk.stamp(file));
  return isUnreadable(stamp) ? undefined : stamp;
}
