/**
 * Whose turn it is in a conversation that several tasks share: one small file that names the task. It is taken by exclusive
 * creation, and set aside by rename when its task has ended, so that of several who find it stale one goes on.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './layout.js';

export function turns(
  disk: Disk,
  l: Layout,
  peer: string,
  isOpen: (task: string) => boolean,
): (session: string, task: string) => boolean {
  let count = 0;
  return (session, task) => {
    const file = path.join(l.turns, session);
    for (let tries = 0; tries < 3; tries++) {
      if (disk.create(file, task)) return true;
      const read = disk.read(file);
      const holder = read.kind === 'file' ? read.bytes.toString('utf8') : undefined;
      if (holder === task) return true;
      // An empty file is one that is just being written, or was torn: nobody can go on by it, so it counts as stale.
      if (holder !== undefined && holder !== '' && isOpen(holder)) return false;
      const aside = path.join(l.tmp, `${peer}-turn${++count}`);
      if (!disk.rename(file, aside)) continue;
      const moved = disk.read(aside);
      const who = moved.kind === 'file' ? moved.bytes.toString('utf8') : '';
      if (who !== holder && who !== '' && isOpen(who)) disk.link(aside, file); // somebody was faster: theirs goes back
      disk.remove(aside);
    }
    return false;
  };
}
