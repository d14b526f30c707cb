/**
 * The one way a whole file is written: aside, synced, then given its name. A reader sees the old file, the new one, or
 * none, never a part. Names of half-done files carry the peer, so that leftovers of a dead one can be told and swept.
 */
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import type { Layout } from './layout.js';

export interface Writing {
  /** A synced file beside everything, not yet under its name. */
  aside(bytes: Uint8Array | string): Promise<string>;
  /** Durable under `file` when resolved; replaces what was there. */
  replace(file: string, bytes: Uint8Array | string): Promise<void>;
  /** Under `file` at once and whole; a power cut may take it. */
  show(file: string, text: string): void;
  /** Durable under `file` when resolved; false, and nothing done, if the name is taken. It gets its name when `first` has resolved. */
  createOnce(file: string, bytes: Uint8Array | string, first?: Promise<void>): Promise<boolean>;
  /** Under `file` at once and whole, if the name is free. A power cut may take the name until its folder is synced. */
  showNew(file: string, text: string): boolean;
}

/** What lies aside under this name is made again if it is gone, so anybody may sweep it who does not know its peer. */
export const remade = (peer: string): string => `${peer}-0`;

/** Under `file` at once and whole, also for a peer that is not known yet, or any more. */
export function showAt(disk: Disk, l: Pick<Layout, 'tmp'>, peer: string, file: string, text: string): void {
  const tmp = path.join(l.tmp, remade(peer));
  for (;;) {
    if (!disk.create(tmp, text)) disk.remove(tmp); // it could not be written whole the last time
    else if (disk.rename(tmp, file)) return;
    else disk.makeFolder(path.dirname(file)); // that is gone, or it was swept
  }
}

/** A person may take it away at any time. */
export async function syncIfThere(disk: Disk, file: string): Promise<void> {
  if (disk.stamp(file) === undefined) return;
  await disk.sync(file).catch((thrown: unknown) => {
    if (disk.stamp(file) !== undefined) throw thrown;
  });
}

/** `beforeFirst` makes the peer known: half-done files of an unknown one would be swept. */
export function writing(disk: Disk, l: Layout, peer: string, beforeFirst: () => void): Writing {
  let count = 0;
  return {
    aside,
    async replace(file, bytes) {
      const tmp = await aside(bytes);
      disk.rename(tmp, file);
      await disk.syncFolder(path.dirname(file));
    },
    show: (file, text) => showAt(disk, l, peer, file, text),
    async createOnce(file, bytes, first) {
      const [tmp] = await Promise.all([aside(bytes), first]);
      const created = name(tmp, file);
      if (created) await disk.syncFolder(path.dirname(file));
      return created;
    },
    showNew(file, text) {
      const tmp = fresh();
      disk.create(tmp, text);
      disk.syncNow(tmp);
      return name(tmp, file);
    },
  };

  async function aside(bytes: Uint8Array | string): Promise<string> {
    const tmp = fresh();
    try {
      await disk.createSynced(tmp, bytes);
    } catch (error) {
      disk.remove(tmp);
      throw error;
    }
    return tmp;
  }

  /** False if the name is taken; what lay aside is gone in any case. */
  function name(tmp: string, file: string): boolean {
    const isFree = disk.link(tmp, file);
    disk.remove(tmp);
    return isFree;
  }

  function fresh(): string {
    if (count === 0) beforeFirst();
    return path.join(l.tmp, `${peer}-${++count}`);
  }
}
