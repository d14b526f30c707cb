/**
 * Which ballot was written by this program, in whatever process. Two of them may write at the same moment, and between looking and naming there is no lock:
 * then an entry of the first is missing, and nobody has deleted it. Noted before the file has its name, and one small file for each process.
 */
import path from 'node:path';
import { sameContent } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';

export interface OwnWrites {
  /** The file with this stamp is about to become the ballot. */
  note(stamp: string): void;
  isOwn(stamp: string): boolean;
}

/** `aside`: where half-done files lie until they have a name. */
export function ownWrites(
  disk: Disk,
  { folder, aside }: { folder: string; aside: string },
  peer: string,
  isAlive: (peer: string) => boolean,
): OwnWrites {
  const names = (): string[] => disk.list(folder);
  return {
    note(stamp) {
      const tmp = path.join(aside, `${peer}-own`);
      disk.makeFolder(folder, 0o700);
      do disk.create(tmp, stamp);
      while (!disk.rename(tmp, path.join(folder, peer))); // swept, because this process is not known yet
      for (const name of names()) if (name !== peer && !isAlive(name)) disk.remove(path.join(folder, name));
    },
    isOwn(stamp) {
      return names().some((name) => {
        const read = disk.read(path.join(folder, name), 4096);
        return read.kind === 'file' && sameContent(read.bytes.toString('utf8'), stamp);
      });
    },
  };
}
