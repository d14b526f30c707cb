/** Temporary files of processes that died. */
import path from 'node:path';
import { isAbandoned } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';

export function removeAbandonedFiles(disk: Disk, folder: string): void {
  for (const name of disk.list(folder)) {
    const file = path.join(folder, name);
    const stamp = disk.stamp(file);
    if (stamp !== undefined && isAbandoned(stamp, Date.now())) disk.remove(file);
  }
}
