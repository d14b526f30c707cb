/**
 * Concurrent writers share one sync of a file: a sync that starts after an append covers it. The
 * file's folder is synced once.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

interface SharedSync {
  running: Promise<void>;
  next?: Promise<void>;
}

export function sharedSync(disk: Disk): (file: string) => Promise<void> {
  const syncs = new Map<string, SharedSync>();
  const syncedNames = new Set<string>();

  return (file) => {
    const current = syncs.get(file);
    if (current === undefined) return start(file);
    // The running sync may have started before this caller's append, so share the one after it.
    current.next ??= current.running.then(
      () => start(file),
      () => start(file),
    );
    return current.next;
  };

  function start(file: string): Promise<void> {
    const entry: SharedSync = { running: syncFile(file) };
    syncs.set(file, entry);
    const ended = (): void => {
      if (entry.next === undefined && syncs.get(file) === entry) syncs.delete(file);
    };
    entry.running.then(ended, ended);
    return entry.running;
  }

  async function syncFile(file: string): Promise<void> {
    await disk.sync(file);
    if (syncedNames.has(file)) return;
    await disk.syncFolder(path.dirname(file));
    syncedNames.add(file);
  }
}
