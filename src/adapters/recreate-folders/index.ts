/**
 * A person may delete any folder of a workspace at any time. This disk recreates a missing folder
 * when a file is written into it, and costs nothing while the folder exists. A workspace that was
 * deleted as a whole is not recreated.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

export function recreateFolders(disk: Disk, root: string): Disk {
  const privateFolder = path.join(root, '.guild');
  return {
    ...disk,
    create: (file, bytes) => retry(file, () => disk.create(file, bytes)),
    preallocate: (file, bytes) => retry(file, () => disk.preallocate(file, bytes)),
    createSynced: (file, bytes) =>
      disk.createSynced(file, bytes).catch((thrown: unknown) => {
        if (!isMissing(thrown) || !remake(file)) throw thrown;
        return disk.createSynced(file, bytes);
      }),
    link: (from, to) => retry(to, () => disk.link(from, to)),
    rename: (from, to) => disk.rename(from, to) || (isDeleted(path.dirname(to)) && remake(to) && disk.rename(from, to)),
    makeFolder(folder, mode) {
      if (isDeleted(root)) throw Object.assign(new Error(`ENOENT: ${root} is gone`), { code: 'ENOENT', path: root });
      disk.makeFolder(folder, mode);
    },
    syncFolder: (folder) =>
      disk.syncFolder(folder).catch((thrown: unknown) => {
        if (!isMissing(thrown) || !isDeleted(folder)) throw thrown; // else nothing is left to sync
      }),
  };

  function retry<T>(file: string, change: () => T): T {
    try {
      return change();
    } catch (thrown) {
      if (!isMissing(thrown) || !remake(file)) throw thrown;
      return change();
    }
  }

  /** Creates the folder of this file if it is missing. False if the workspace itself is gone. */
  function remake(file: string): boolean {
    const folder = path.dirname(file);
    if (isDeleted(root)) return false;
    disk.makeFolder(folder, folder.startsWith(privateFolder) ? 0o700 : undefined);
    return true;
  }

  function isDeleted(folder: string): boolean {
    return disk.stamp(folder) === undefined;
  }
}

function isMissing(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
}
