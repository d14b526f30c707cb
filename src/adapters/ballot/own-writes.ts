/**
 * Tells ballots that Guildhall wrote from ballots that a person saved. Two processes may write at
 * the same moment and one can overwrite the other's entry; that must not look like a withdrawal.
 * Each process notes its stamp in a separate small file before it renames the ballot into place.
 */
import path from 'node:path';
import { sameContent } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';

interface OwnWrites {
  peers(): string[];
  /** Call before the file with this stamp becomes the ballot. Removes the notes of `dead` peers. */
  note(stamp: string, dead: ReadonlySet<string>): void;
  isOwn(stamp: string): boolean;
}

/** `tmp`: folder for temporary files before they are renamed. */
export function ownWrites(
  disk: Disk,
  { folder, tmp: tmpFolder }: { folder: string; tmp: string },
  peer: string,
): OwnWrites {
  const names = (): string[] => disk.list(folder);
  return {
    peers: () => names().filter((name) => name !== peer),
    note(stamp, dead) {
      const tmp = path.join(tmpFolder, `${peer}-own`);
      disk.makeFolder(folder, 0o700);
      // Retry: another peer may sweep the temp file before this process is registered.
      do disk.create(tmp, stamp);
      while (!disk.rename(tmp, path.join(folder, peer)));
      for (const name of names()) if (dead.has(name)) disk.remove(path.join(folder, name));
    },
    isOwn(stamp) {
      return names().some((name) => {
        const read = disk.read(path.join(folder, name), 4096);
        return read.kind === 'file' && sameContent(read.bytes.toString('utf8'), stamp);
      });
    },
  };
}
