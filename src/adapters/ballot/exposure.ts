/**
 * Commands that nothing holds in could write the ballot. Before such a command starts, the ballot's stamp is kept in a file of
 * its own; as long as that file is there and the stamp is another, no mark counts, in whatever process it is read. The file
 * goes when the command has ended and the ballot is as it was, or has been put back to open questions by us.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

export interface Exposure {
  /** Before the command; call the result after it. */
  begin(stamp: string | undefined): (stampAfter: string | undefined) => void;
  /** Somebody other than a person or us may have changed it to what it is now. */
  isSuspect(stamp: string | undefined): boolean;
  /** The ballot is as we left it: it counts from here. */
  settle(stamp: string | undefined): void;
}

const NONE = 'none';
const ENDED = '.ended';

export function exposure(disk: Disk, folder: string, peer: string, isAlive: (peer: string) => boolean): Exposure {
  let count = 0;
  const names = (): string[] => disk.list(folder).filter((name) => !name.startsWith('.'));
  const kept = (name: string): string => {
    const read = disk.read(path.join(folder, name), 4096);
    return read.kind === 'file' ? read.bytes.toString('utf8') : NONE;
  };
  return {
    begin(stamp = NONE) {
      const file = path.join(folder, `${peer}-${++count}`);
      disk.makeFolder(folder);
      disk.create(file, stamp);
      return (now = NONE) => {
        const read = disk.read(file, 4096);
        const was = read.kind === 'file' ? read.bytes.toString('utf8') : stamp;
        if (now === was) disk.remove(file);
        else disk.rename(file, file + ENDED);
      };
    },
    isSuspect: (stamp = NONE) => names().some((name) => kept(name) !== stamp),
    settle(stamp = NONE) {
      for (const name of names()) {
        const file = path.join(folder, name);
        const runs = !name.endsWith(ENDED) && isAlive(name.slice(0, name.lastIndexOf('-')));
        const tmp = path.join(folder, `.${name}`);
        if (runs) {
          disk.remove(tmp);
          disk.create(tmp, stamp);
          disk.rename(tmp, file);
        } else disk.remove(file);
      }
    },
  };
}
