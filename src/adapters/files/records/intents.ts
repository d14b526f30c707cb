/** Intents in `.guild/intents`, one file each, named by time so that they sort by arrival. */
import path from 'node:path';
import type { Intent } from '../../../domain/task/intent.js';
import type { Disk } from '../../../ports/disk.js';
import type { Intents } from '../../../ports/store/intents.js';
import type { AtomicWrite } from '../base/atomic-write.js';
import { isSettled, type Layout } from '../base/layout.js';
import { readJson } from '../base/read-json.js';

/**
 * Some file systems keep times in steps of one or two seconds: an unchanged stamp is trusted this
 * long.
 */
const TRUST_STAMP_MS = 1000;

export function intents(disk: Disk, layout: Layout, writing: AtomicWrite, now: () => Date): Intents {
  /** The intents when the folder had this stamp, and when that was. */
  let last: { stamp: string; at: number; intents: readonly Intent[] } | undefined;
  return {
    async submit(intent) {
      const name = `${intent.at.replaceAll(/[^0-9TZ]/g, '')}-${intent.id}.json`;
      await writing.createOnce(path.join(layout.intents, name), JSON.stringify(intent));
    },
    async list() {
      // Every task asks several times in each turn of its conversation.
      const stamp = disk.glance(layout.intents);
      const at = now().getTime();
      if (stamp !== undefined && stamp === last?.stamp && Math.abs(at - last.at) < TRUST_STAMP_MS)
        return [...last.intents];
      const names = disk
        .list(layout.intents)
        .filter((name) => name.endsWith('.json'))
        .sort();
      const all = names.flatMap((name) => readJson<Intent>(disk, path.join(layout.intents, name)) ?? []);
      const isComplete = all.length === names.length && isSettled(stamp, new Date(at));
      last = isComplete ? { stamp: stamp!, at, intents: all } : undefined;
      return all;
    },
    async done(id) {
      for (const name of disk.list(layout.intents))
        if (name.endsWith(`-${id}.json`)) disk.remove(path.join(layout.intents, name));
    },
  };
}
