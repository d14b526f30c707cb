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
  /** The folder's stamp when it was last seen empty, and when that was. */
  let empty: { stamp: string; at: number } | undefined;
  return {
    async submit(intent) {
      const name = `${intent.at.replaceAll(/[^0-9TZ]/g, '')}-${intent.id}.json`;
      await writing.createOnce(path.join(layout.intents, name), JSON.stringify(intent));
    },
    async list() {
      const stamp = disk.stamp(layout.intents);
      const at = now().getTime();
      const isUnchanged = stamp !== undefined && stamp === empty?.stamp;
      if (isUnchanged && Math.abs(at - empty!.at) < TRUST_STAMP_MS) return [];
      const names = disk
        .list(layout.intents)
        .filter((name) => name.endsWith('.json'))
        .sort();
      const isEmpty = names.length === 0 && stamp !== undefined && isSettled(stamp, new Date(at));
      empty = isEmpty ? { stamp, at } : undefined;
      return names.flatMap((name) => readJson<Intent>(disk, path.join(layout.intents, name)) ?? []);
    },
    async done(id) {
      for (const name of disk.list(layout.intents))
        if (name.endsWith(`-${id}.json`)) disk.remove(path.join(layout.intents, name));
    },
  };
}
