/**
 * A person may delete any folder of a workspace at any time, to clean up: what is about to be put there makes it again. Costs nothing while they
 * are there. A workspace that is gone as a whole stays gone.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

export function withFolders(disk: Disk, root: string): Disk {
  const own = path.join(root, '.guild');
  return {
    ...disk,
    create: (file, bytes) => again(file, () => disk.create(file, bytes)),
    createSynced: (file, bytes) =>
      disk.createSynced(file, bytes).catch((thrown: unknown) => {
        if (!isMissing(thrown) || !remake(file)) throw thrown;
        return disk.createSynced(file, bytes);
      }),
    link: (from, to) => again(to, () => disk.link(from, to)),
    rename: (from, to) => disk.rename(from, to) || (isDeleted(path.dirname(to)) && remake(to) && disk.rename(from, to)),
    makeFolder(folder, mode) {
      if (isDeleted(root)) throw Object.assign(new Error(`ENOENT: ${root} is gone`), { code: 'ENOENT', path: root });
      disk.makeFolder(folder, mode);
    },
    syncFolder: (folder) =>
      disk.syncFolder(folder).catch((thrown: unknown) => {
        if (!isMissing(thrown) || !isDeleted(folder)) throw thrown; // else whatever lay there was taken away
      }),
  };

  function again<T>(file: string, change: () => T): T {
    try {
      return change();
    } catch (thrown) {
      if (!isMissing(thrown) || !remake(file)) throw thrown;
      return change();
    }
  }

  /** Makes the folder of this file, unless it is there; false if the workspace is gone. */
  function remake(file: string): boolean {
    const folder = path.dirname(file);
    if (isDeleted(root)) return false;
    disk.makeFolder(folder, folder.startsWith(own) ? 0o700 : undefined);
    return true;
  }

  function isDeleted(folder: string): boolean {
    return disk.stamp(folder) === undefined;
  }
}

function isMissing(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
}
