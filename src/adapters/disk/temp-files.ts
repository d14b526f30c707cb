/** Temporary files: a process writes one and renames it at once, unless it dies in between. */
import path from 'node:path';
import { writtenAt } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';

/** A file this old belongs to a dead process. */
const MAX_AGE_MS = 10 * 60_000;

export function removeAbandonedFiles(disk: Disk, folder: string): void {
  for (const name of disk.list(folder)) {
    const file = path.join(folder, name);
    const stamp = disk.stamp(file);
    if (stamp !== undefined && Date.now() - Number(writtenAt(stamp) / 1_000_000n) > MAX_AGE_MS) disk.remove(file);
  }
}
