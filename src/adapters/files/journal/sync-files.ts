/** Makes the files that a journal describes durable, before its lines are removed. */
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import { syncIfThere } from '../base/atomic-write.js';

/** Of the four threads that sync, one stays free for the next line. */
const SYNCED_TOGETHER = 3;

/** By their current names: another process may have taken a task in between. */
export async function syncFiles(
  disk: Disk,
  placed: readonly [key: string, file: string][],
  whereIs: (key: string) => string | undefined,
): Promise<void> {
  const synced = new Set<string>();
  const sync = async ([key, file]: [string, string]): Promise<void> => {
    if (synced.has(file)) return;
    synced.add(file);
    if (await syncIfThere(disk, file)) return;
    synced.delete(file);
    const now = whereIs(key);
    if (now !== undefined && (await syncIfThere(disk, now))) synced.add(now);
  };
  for (let at = 0; at < placed.length; at += SYNCED_TOGETHER)
    await Promise.all(placed.slice(at, at + SYNCED_TOGETHER).map(sync));
  const folders = new Set([...synced].map((file) => path.dirname(file)));
  for (const parent of folders) await disk.syncFolder(parent);
}
