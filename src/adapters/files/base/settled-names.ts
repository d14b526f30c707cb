/** The names in a folder, listed only if it may have changed. */
import type { Disk } from '../../../ports/disk.js';
import { isSettled } from './layout.js';

export function settledNames(disk: Disk, folder: string, now: () => Date): () => readonly string[] {
  let listed: { stamp: string; names: readonly string[] } | undefined;
  return () => {
    const stamp = disk.glance(folder);
    if (stamp !== undefined && listed?.stamp === stamp) return listed.names;
    const names = disk.list(folder);
    listed = stamp !== undefined && isSettled(stamp, now()) ? { stamp, names } : undefined;
    return names;
  };
}
