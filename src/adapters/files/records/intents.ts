/**
 * Intents in `.guild/intents`, one file each, named by time so that they sort by arrival. The file
 * of an intent is removed only when its effects are durable.
 */
import path from 'node:path';
import type { Intent } from '../../../domain/task/intent.js';
import type { Disk } from '../../../ports/disk.js';
import type { Intents } from '../../../ports/store/intents.js';
import type { AtomicWrite } from '../base/atomic-write.js';
import { isSettled, type Layout } from '../base/layout.js';
import { readJson } from '../base/read-json.js';
import type { Journal } from '../journal/journal.js';

/**
 * Some file systems keep times in steps of one or two seconds: an unchanged stamp is trusted this
 * long.
 */
const TRUST_STAMP_MS = 1000;

interface Dependencies {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  journal: Pick<Journal, 'durable'>;
  now: () => Date;
  /** Whether this process works under claims, and so has a journal. */
  isJoined: () => boolean;
}

export function intents({ disk, layout, write, journal, now, isJoined }: Dependencies): Intents & {
  /** Resolves when the files of finished intents are removed. If the journal failed, they stay. */
  flush(): Promise<void>;
} {
  /** The intents when the folder had this stamp, and when that was. */
  let last: { stamp: string; at: number; intents: readonly Intent[] } | undefined;
  /** Intents that are done and whose files wait for the journal. */
  const done = new Map<string, Promise<void>>();
  const isOpen = ({ id }: Intent): boolean => !done.has(id);
  return {
    async submit(intent) {
      const name = `${intent.at.replaceAll(/[^0-9TZ]/g, '')}-${intent.id}.json`;
      await write.createOnce(path.join(layout.intents, name), JSON.stringify(intent));
    },
    async list() {
      // Every task asks several times in each turn of its conversation.
      const stamp = disk.glance(layout.intents);
      const at = now().getTime();
      if (stamp !== undefined && stamp === last?.stamp && Math.abs(at - last.at) < TRUST_STAMP_MS)
        return last.intents.filter(isOpen);
      const names = disk
        .list(layout.intents)
        .filter((name) => name.endsWith('.json'))
        .sort();
      const all = names.flatMap((name) => readJson<Intent>(disk, path.join(layout.intents, name)) ?? []);
      const isComplete = all.length === names.length && isSettled(stamp, new Date(at));
      last = isComplete ? { stamp: stamp!, at, intents: all } : undefined;
      return all.filter(isOpen);
    },
    async done(id) {
      if (!isJoined()) return remove(id);
      if (!done.has(id)) done.set(id, removeLater(id));
    },
    flush: async () => void (await Promise.all(done.values())),
  };

  /** If the journal fails, the intent stays, and acting on it again is harmless. */
  async function removeLater(id: string): Promise<void> {
    try {
      await journal.durable();
      remove(id);
      done.delete(id);
    } catch {
      // kept in `done`, so that this process does not repeat it
    }
  }

  function remove(id: string): void {
    for (const name of disk.list(layout.intents))
      if (name.endsWith(`-${id}.json`)) disk.remove(path.join(layout.intents, name));
  }
}
