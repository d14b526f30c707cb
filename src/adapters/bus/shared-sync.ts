/** Tellers of the same moment share one sync of a file: a sync that begins after an append covers it. A file's name is made safe once. */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

interface Under {
  running: Promise<void>;
  next?: Promise<void>;
}

export function sharedSync(disk: Disk): (file: string) => Promise<void> {
  const under = new Map<string, Under>();
  const named = new Set<string>();

  return (file) => {
    const now = under.get(file);
    if (now === undefined) return start(file);
    // The one under way may have begun before this caller's append: all who come now share the one after it.
    now.next ??= now.running.then(
      () => start(file),
      () => start(file),
    );
    return now.next;
  };

  function start(file: string): Promise<void> {
    const entry: Under = { running: safe(file) };
    under.set(file, entry);
    const ended = (): void => {
      if (entry.next === undefined && under.get(file) === entry) under.delete(file);
    };
    entry.running.then(ended, ended);
    return entry.running;
  }

  async function safe(file: string): Promise<void> {
    await disk.sync(file);
    if (named.has(file)) return;
    await disk.syncFolder(path.dirname(file));
    named.add(file);
  }
}
