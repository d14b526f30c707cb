/** Appends to a file that may not exist yet, beside other processes that do the same. */
import type { Disk } from '../../../ports/disk.js';

/** A person may delete the file at any time, but not each time. */
const MAX_TRIES = 5;

/**
 * A new file has its first text before it has its name. Otherwise that text could overwrite lines
 * that others append as soon as they see the file. `tmp`: a name that only this process uses.
 */
export function appendOrCreate(disk: Disk, file: string, text: string, tmp: string): void {
  for (let tries = 1; ; tries++) {
    try {
      disk.append(file, text);
      return;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' || tries === MAX_TRIES) throw thrown;
    }
    if (createWhole(disk, file, text, tmp)) return;
  }
}

/** False if another process was faster. */
function createWhole(disk: Disk, file: string, text: string, tmp: string): boolean {
  disk.remove(tmp);
  disk.create(tmp, text);
  try {
    return disk.link(tmp, file);
  } finally {
    disk.remove(tmp);
  }
}
