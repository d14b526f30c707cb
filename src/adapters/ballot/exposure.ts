/**
 * An unsandboxed command could forge marks on the ballot. The ballot's stamp is saved to a file
 * before such a command starts. While that file exists and the stamp differs, no process counts any
 * mark. The file is removed once the ballot is unchanged or its marks have been reset.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

interface Exposure {
  /** Call before the command; call the returned function after it. */
  begin(stamp: string | undefined): (stampAfter: string | undefined) => void;
  /** True if an unsandboxed command may have written the ballot's current content. */
  isSuspect(stamp: string | undefined): boolean;
  /** Other peers whose commands may still be running. */
  peers(): string[];
  /**
   * Accepts the ballot with this stamp: marks made from here on count. `dead`: peers whose commands
   * have all ended.
   */
  accept(stamp: string | undefined, dead: ReadonlySet<string>): void;
}

const NONE = 'none';
const ENDED = '.ended';
const peerOf = (name: string): string => name.slice(0, name.lastIndexOf('-'));

export function exposure(disk: Disk, folder: string, peer: string): Exposure {
  let count = 0;
  const names = (): string[] => disk.list(folder).filter((name) => !name.startsWith('.'));
  const savedStamp = (name: string): string => {
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
        const expected = read.kind === 'file' ? read.bytes.toString('utf8') : stamp;
        if (now === expected) disk.remove(file);
        else disk.rename(file, file + ENDED);
      };
    },
    isSuspect: (stamp = NONE) => names().some((name) => savedStamp(name) !== stamp),
    peers: () =>
      names()
        .map(peerOf)
        .filter((id) => id !== peer),
    accept(stamp, dead) {
      for (const name of names()) {
        const file = path.join(folder, name);
        const isRunning = !name.endsWith(ENDED) && !dead.has(peerOf(name));
        const tmp = path.join(folder, `.${name}`);
        if (isRunning) {
          disk.remove(tmp);
          disk.create(tmp, stamp ?? NONE);
          disk.rename(tmp, file);
        } else disk.remove(file);
      }
    },
  };
}
