/** Private texts, as files named by their hash in `.guild/private`. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { PrivateTexts } from '../../ports/consent/private-texts.js';

export function privateTexts({ root, disk }: { root: string; disk: Disk }): PrivateTexts {
  const folder = path.join(root, '.guild', 'private');
  return {
    async put(text) {
      const hash = createHash('sha256').update(text).digest('hex');
      const file = path.join(folder, hash);
      if (disk.stamp(file) !== undefined) return hash;
      disk.makeFolder(folder, 0o700);
      disk.create(file, text);
      await disk.sync(file);
      await disk.syncFolder(folder);
      return hash;
    },
    get(hash) {
      const read = /^[0-9a-f]{64}$/.test(hash) ? disk.read(path.join(folder, hash)) : undefined;
      return read?.kind === 'file' ? read.bytes.toString('utf8') : undefined;
    },
  };
}
