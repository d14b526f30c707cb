/**
 * Changes a small file that people and other processes may write at the same moment: only over what was read, else it is read again, and never
 * half. What is not done yet lies aside under the name of this peer, so that two who do the same do not meet, and leftovers of a dead one are swept.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

/** Durable when resolved. `edit` may be called again, with what somebody else wrote meanwhile. A file that cannot be read is left as it is. */
type ChangeFile = (file: string, edit: (before: string) => string) => Promise<void>;

export function changeFile({ root, disk, peer }: { root: string; disk: Disk; peer: string }): ChangeFile {
  let count = 0;
  return async (file, edit) => {
    const full = path.join(root, file);
    const folder = path.dirname(full);
    for (;;) {
      const read = disk.read(full);
      if (read.kind !== 'file' && read.kind !== 'missing') return;
      const before = read.kind === 'file' ? read.bytes.toString('utf8') : '';
      const after = edit(before);
      if (after === before) return;
      disk.makeFolder(folder);
      const tmp = path.join(root, '.guild', 'tmp', `${peer}-change${++count}`);
      try {
        await disk.createSynced(tmp, after);
        const isAsRead = disk.stamp(full) === (read.kind === 'file' ? read.stamp : undefined);
        if (isAsRead && disk.rename(tmp, full)) break;
      } finally {
        disk.remove(tmp);
      }
    }
    await disk.syncFolder(folder);
  };
}
