/**
 * A used file of the journal that waits to be reused. Reusing one costs half of creating one,
 * because no zeros are written.
 */
import type { Disk } from '../../../ports/disk.js';

interface SpareFile {
  disk: Disk;
  folder: string;
  /** Its name meanwhile. */
  name: string;
  size: number;
}

export function spareFile({ disk, folder, name, size: wanted }: SpareFile) {
  let isThere = false;
  return {
    /** False if there is no spare file of this size. */
    take(file: string, size: number): boolean {
      if (!isThere || size !== wanted || !disk.rename(name, file)) return false;
      isThere = false;
      return true;
    },
    /** Its old name is gone from the device before anything else is written to it. */
    async keep({ file, size }: { file: string; size: number }): Promise<void> {
      if (isThere || size !== wanted || !disk.rename(file, name)) return void disk.remove(file);
      await disk.syncFolder(folder);
      isThere = true;
    },
    remove(): void {
      if (isThere) disk.remove(name);
    },
  };
}
