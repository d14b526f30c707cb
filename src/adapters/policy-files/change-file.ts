/**
 * Edits a small file that people and other processes may write at the same time: atomically, and
 * only if it is still as it was read; otherwise it is read again. The temporary file has the peer's
 * name, so that leftovers of a dead peer are swept.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

/**
 * Durable when resolved. `edit` is called again if the file changed meanwhile. A file that cannot
 * be read is left unchanged.
 */
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
