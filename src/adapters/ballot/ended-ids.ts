/** Whether a task has ended: looks for its record or, for many ids, lists the folder once. */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

interface EndedIds {
  has(id: string): boolean;
  /** Forgets the list. */
  refresh(): void;
}

/** Listing a large folder takes about as long as this many lookups. */
const MAX_LOOKS = 200;

export function endedIds(disk: Disk, root: string): EndedIds {
  const folders = ['completed', 'failed'].map((state) => path.join(root, 'tasks', state));
  let looks = 0;
  let listed: ReadonlySet<string> | undefined;
  return {
    has(id) {
      if (path.basename(id) !== id) return false;
      const name = `${id}.json`;
      if (++looks <= MAX_LOOKS) return folders.some((folder) => disk.stamp(path.join(folder, name)) !== undefined);
      listed ??= new Set(folders.flatMap((folder) => disk.list(folder)));
      return listed.has(name);
    },
    refresh() {
      looks = 0;
      listed = undefined;
    },
  };
}
