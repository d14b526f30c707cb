/** Large values in `storage/blobs/<sha256>`. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import type { Blobs } from '../../../ports/store/blobs.js';
import type { AtomicWrite } from '../base/atomic-write.js';
import type { Layout } from '../base/layout.js';

/** Hashes already stored: every conversation of an agent stores the same prompt again. */
const MAX_REMEMBERED = 1000;

export function blobs(disk: Disk, layout: Layout, writing: AtomicWrite): Blobs {
  const fileOf = (hash: string): string => path.join(layout.blobs, hash);
  const stored = new Set<string>();
  return {
    async put(bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex');
      if (!stored.has(hash) && disk.stamp(fileOf(hash)) === undefined) await writing.createOnce(fileOf(hash), bytes);
      if (stored.size < MAX_REMEMBERED) stored.add(hash);
      return hash;
    },
    async get(hash) {
      const read = /^[0-9a-f]{64}$/.test(hash) ? disk.read(fileOf(hash)) : undefined;
      return read?.kind === 'file' ? read.bytes : undefined;
    },
  };
}
