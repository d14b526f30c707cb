/**
 * Private texts, as files named by their hash in `.guild/private`. A file is written under another
 * name first, and one that a crash has damaged does not count.
 */
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { PrivateTexts } from '../../ports/consent/private-texts.js';

export function privateTexts({ root, disk }: { root: string; disk: Disk }): PrivateTexts {
  const folder = path.join(root, '.guild', 'private');

  function get(hash: string): Buffer | undefined {
    const read = /^[0-9a-f]{64}$/.test(hash) ? disk.read(path.join(folder, hash)) : undefined;
    return read?.kind === 'file' && sha256(read.bytes) === hash ? read.bytes : undefined;
  }

  return {
    async put(text) {
      const hash = sha256(text);
      if (get(hash) !== undefined) return hash;
      disk.makeFolder(folder, 0o700);
      const tmp = path.join(folder, `.${randomBytes(6).toString('hex')}`);
      await disk.createSynced(tmp, text);
      disk.rename(tmp, path.join(folder, hash));
      await disk.syncFolder(folder);
      return hash;
    },
    get,
  };
}

function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
