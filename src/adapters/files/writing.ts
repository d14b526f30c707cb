/**
 * The one way a whole file is written: aside, synced, then given its name. A reader sees the old file, the new one, or
 * none, never a part. Names of half-done files carry the peer, so that leftovers of a dead one can be told and swept.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './layout.js';

export interface Writing {
  /** A synced file beside everything, not yet under its name. */
  aside(bytes: Uint8Array | string): Promise<string>;
  /** Durable under `file` when resolved; replaces what was there. */
  replace(file: string, bytes: Uint8Array | string): Promise<void>;
  /** Under `file` at once and whole; a power cut may take it. */
  show(file: string, text: string): void;
  /** Durable under `file` when resolved; false, and nothing done, if the name is taken. */
  createOnce(file: string, bytes: Uint8Array | string): Promise<boolean>;
}

/** `beforeFirst` makes the peer known: half-done files of an unknown one would be swept. */
export function writing(disk: Disk, l: Layout, peer: string, beforeFirst: () => void): Writing {
  let count = 0;
  const aside = async (bytes: Uint8Array | string): Promise<string> => {
    if (count === 0) beforeFirst();
    const tmp = path.join(l.tmp, `${peer}-${++count}`);
    disk.create(tmp, bytes);
    try {
      await Promise.resolve(); // what is written together is made first and then synced: making a file waits for a sync under way
      await disk.sync(tmp);
    } catch (error) {
      disk.remove(tmp);
      throw error;
    }
    return tmp;
  };
  return {
    aside,
    async replace(file, bytes) {
      const tmp = await aside(bytes);
      disk.rename(tmp, file);
      await disk.syncFolder(path.dirname(file));
    },
    show(file, text) {
      if (count === 0) beforeFirst();
      const tmp = path.join(l.tmp, `${peer}-${++count}`);
      disk.makeFolder(path.dirname(file));
      disk.create(tmp, text);
      disk.rename(tmp, file);
    },
    async createOnce(file, bytes) {
      const tmp = await aside(bytes);
      const created = disk.link(tmp, file);
      disk.remove(tmp);
      if (created) await disk.syncFolder(path.dirname(file));
      return created;
    },
  };
}
