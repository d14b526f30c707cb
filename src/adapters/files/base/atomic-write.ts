/**
 * Atomic writes: a temporary file, synced, then renamed. A reader sees the old file, the new one,
 * or none, never a part. Names of temporary files contain the peer, so that those of a dead peer
 * can be swept.
 */
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import type { Layout } from './layout.js';

export interface AtomicWrite {
  /** Writes and syncs a temporary file; resolves with its path. */
  writeTemp(bytes: Uint8Array | string): Promise<string>;
  /** Durable under `file` when resolved; replaces an existing file. */
  replace(file: string, bytes: Uint8Array | string): Promise<void>;
  /** Writes `file` at once and atomically; a power cut may lose it. */
  show(file: string, text: string): void;
  /**
   * Durable under `file` when resolved; false, and nothing is done, if the name is taken. The name
   * is given after `first` resolves.
   */
  createOnce(file: string, bytes: Uint8Array | string, first?: Promise<void>): Promise<boolean>;
}

/** A temporary file with this name is written again if it is gone, so any process may sweep it. */
export const disposableName = (peer: string): string => `${peer}-0`;

/** Writes `file` at once and atomically, even before a peer has joined or after it has left. */
export function showAt(disk: Disk, layout: Pick<Layout, 'tmp'>, peer: string, file: string, text: string): void {
  const tmp = path.join(layout.tmp, disposableName(peer));
  for (;;) {
    if (!disk.create(tmp, text)) disk.remove(tmp); // the last write was cut short
    else if (disk.rename(tmp, file)) return;
    else disk.makeFolder(path.dirname(file)); // the folder is gone, or the temporary file was swept
  }
}

/** Syncs a file that a person may delete at any time. False if it is not there. */
export async function syncIfThere(disk: Disk, file: string): Promise<boolean> {
  try {
    await disk.sync(file);
    return true;
  } catch (thrown) {
    if (disk.stamp(file) !== undefined) throw thrown;
    return false;
  }
}

/** `beforeFirst` makes the peer join: temporary files of an unknown peer are swept. */
export function atomicWrite(disk: Disk, layout: Layout, peer: string, beforeFirst: () => void): AtomicWrite {
  let count = 0;
  return {
    writeTemp: writeTemp,
    async replace(file, bytes) {
      const tmp = await writeTemp(bytes);
      disk.rename(tmp, file);
      await disk.syncFolder(path.dirname(file));
    },
    show: (file, text) => showAt(disk, layout, peer, file, text),
    async createOnce(file, bytes, first) {
      const [tmp] = await Promise.all([writeTemp(bytes), first]);
      const created = name(tmp, file);
      if (created) await disk.syncFolder(path.dirname(file));
      return created;
    },
  };

  async function writeTemp(bytes: Uint8Array | string): Promise<string> {
    const tmp = fresh();
    try {
      await disk.createSynced(tmp, bytes);
    } catch (error) {
      disk.remove(tmp);
      throw error;
    }
    return tmp;
  }

  /** False if the name is taken; the temporary file is gone in any case. */
  function name(tmp: string, file: string): boolean {
    const isFree = disk.link(tmp, file);
    disk.remove(tmp);
    return isFree;
  }

  function fresh(): string {
    if (count === 0) beforeFirst();
    return path.join(layout.tmp, `${peer}-${++count}`);
  }
}
