/**
 * Whose turn it is in a conversation that several tasks share: one small file that names the task. It is taken by exclusive
 * creation, and set aside by rename when its task has ended, so that of several who find it stale one goes on.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Store } from '../../ports/store.js';
import type { Layout } from './layout.js';

export function turns(
  disk: Disk,
  l: Layout,
  peer: string,
  isOpen: (task: string) => boolean,
  /** The task that has begun in this conversation and has not ended. */
  begunIn: (session: string) => string | undefined,
): Pick<Store, 'takeTurn' | 'keepTurn' | 'giveTurn' | 'turnOf'> {
  let count = 0;
  return {
    takeTurn: async (session, task) => takeTurn(session, task),
    async keepTurn(session, task) {
      if (!takeTurn(session, task)) return false;
      const file = path.join(l.turns, session);
      try {
        await disk.sync(file);
        await disk.syncFolder(l.turns);
      } catch (error) {
        // Somebody took it for a stale one while it was being written.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
      return named(file) === task;
    },
    async giveTurn(session, task) {
      const file = path.join(l.turns, session);
      if (named(file) !== task) return;
      const aside = path.join(l.tmp, `${peer}-turn${++count}`);
      if (!disk.rename(file, aside)) return;
      const who = named(aside) ?? '';
      if (who !== task && who !== '' && isOpen(who)) disk.link(aside, file); // somebody was faster: theirs goes back
      disk.remove(aside);
    },
    async turnOf(session) {
      const holder = named(path.join(l.turns, session));
      return holder !== undefined && holder !== '' && isOpen(holder) ? holder : begunIn(session);
    },
  };

  function takeTurn(session: string, task: string): boolean {
    const file = path.join(l.turns, session);
    for (let tries = 0; tries < 3; tries++) {
      // A power cut may have taken the name, but not the conversation: whoever is in the middle of it still has its turn.
      if (disk.stamp(file) === undefined && (begunIn(session) ?? task) !== task) return false;
      if (disk.create(file, `${task}\n`)) return true;
      const holder = named(file);
      if (holder === task) return true;
      // An empty file is one that is just being written, or was torn: nobody can go on by it, so it counts as stale.
      if (holder !== undefined && holder !== '' && isOpen(holder)) return false;
      const aside = path.join(l.tmp, `${peer}-turn${++count}`);
      if (!disk.rename(file, aside)) continue;
      const who = named(aside) ?? '';
      if (who !== holder && who !== '' && isOpen(who)) disk.link(aside, file); // somebody was faster: theirs goes back
      disk.remove(aside);
    }
    return false;
  }

  function named(file: string): string | undefined {
    const read = disk.read(file);
    const text = read.kind === 'file' ? read.bytes.toString('utf8') : undefined;
    // Half a name may be the whole of another: only a line that has its end names anybody.
    return text === undefined || text.endsWith('\n') ? text?.trimEnd() : '';
  }
}
