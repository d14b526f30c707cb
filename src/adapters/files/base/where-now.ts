/** The place of a task on the disk now, under any name that the program gives. */
import path from 'node:path';
import { fenced, isUnreadable } from '../../../domain/fence.js';
import type { OpenState } from '../../../domain/task/task.js';
import type { Disk } from '../../../ports/disk.js';
import { parseClaimName, type Layout } from './layout.js';
import { lookThoroughly } from './look-thoroughly.js';

type Place = { state: OpenState; file: string } | 'ended';

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
  if (isThere(layout.task('completed', id)) || isThere(layout.task('failed', id))) return 'ended';
  for (const state of ['pending', 'waiting'] as const) {
    const file = layout.task(state, id);
    if (isThere(file)) return { state, file };
  }
  const folder = layout.tasks('active');
  const names = fenced(folder, () => disk.list(folder));
  const claim = isUnreadable(names) ? undefined : names.find((name) => parseClaimName(name)?.id === id);
  return claim === undefined ? undefined : { state: 'active', file: path.join(folder, claim) };
}
