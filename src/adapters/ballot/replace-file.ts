/** Replaces a file that people also save: durable, at once, and only if it is unchanged. */
import type { Disk } from '../../ports/disk.js';

/**
 * False, and nothing is written, if the file no longer has this stamp: a save made in between is
 * read first. `onReady`: called with the stamp of the new file just before it replaces the old one.
 */
type Replace = (text: string, stamp: string | undefined, onReady: (stamp: string) => void) => Promise<boolean>;

export function replaceFile(disk: Disk, file: string, tmpStart: string): Replace {
  let tmps = 0;
  return async (text, stamp, onReady) => {
    const tmp = `${tmpStart}${++tmps}`;
    disk.create(tmp, text);
    try {
      await disk.sync(tmp);
    } catch (error) {
      // Another peer swept the temp file as a leftover. The next pass writes it again.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    onReady(disk.stamp(tmp) ?? '');
    if (disk.stamp(file) === stamp) return disk.rename(tmp, file);
    disk.remove(tmp);
    return false;
  };
}
