/** Appends to a file that may not exist yet. */
import type { Disk } from '../../../ports/disk.js';

/** A person may delete the file at any time. */
export function appendOrCreate(disk: Disk, file: string, text: string): void {
  try {
    disk.append(file, text);
  } catch (thrown) {
    if (disk.stamp(file) !== undefined || !disk.create(file, text)) throw thrown;
  }
}
