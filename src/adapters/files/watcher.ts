/**
 * The doorbell: file events say that looking may be worth it. Losing every one of them costs time, never truth. One watch for each folder and
 * none for the files in it: with many processes on one workspace everything that happens is told to all of them, so hearing it must cost little.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './base/layout.js';

interface Bell {
  /** Hangs it again where a folder came or was exchanged since: true if something may have been missed there. Cheap where nothing was. */
  mend(): boolean;
  close(): void;
}

interface Heard {
  ring(): void;
  /** A process came, or has gone. */
  peers(gone: boolean): void;
  /** Something happened to this file; `ring` follows. */
  touched(file: string): void;
}

export function bell(l: Layout, { ring, peers, touched }: Heard): Bell {
  const places = [
    l.tasks('pending'),
    l.tasks('waiting'),
    l.tasks('active'),
    l.intents,
    l.live,
    path.join(l.root, 'agents'),
    path.join(l.root, 'tasks'),
    path.join(l.root, 'inbox'),
    path.join(l.root, 'bus'),
    l.paused,
  ];
  const watchers = new Map<string, fs.FSWatcher>();
  for (const place of [l.root, ...places]) hang(place);
  return {
    mend,
    close() {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };

  function mend(): boolean {
    const missing = places.filter((place) => !watchers.has(place));
    return missing.filter(hang).length > 0;
  }

  /** False if there is no such folder, or no more watches are to be had: then the clock does it. */
  function hang(place: string): boolean {
    try {
      const watcher = fs.watch(place, (kind, name) => heard(place, kind, name));
      watcher.on('error', () => (lost(place), ring()));
      watchers.set(place, watcher);
      return true;
    } catch {
      return false;
    }
  }

  function heard(place: string, kind: string, name: string | null): void {
    const full = name === null ? place : path.join(place, name);
    // A folder that was not there before, or is another one now; of itself it says its own name.
    const moved =
      kind !== 'rename'
        ? undefined
        : places.find((one) => one === full || (one === place && name === path.basename(place)));
    if (moved !== undefined) {
      lost(moved);
      mend();
      return ring();
    }
    if (place === l.root || name === 'registry.json') return;
    if (place !== l.live || name === null) {
      touched(full);
      return ring();
    }
    if (!name.endsWith('.json') || name.startsWith('.')) return;
    if (kind === 'change') ring();
    else peers(!fs.existsSync(full));
  }

  function lost(place: string): void {
    watchers.get(place)?.close();
    watchers.delete(place);
  }
}

/** Rings at every process of the workspace, this one included: the first byte of its own presence is written as it is. */
export function ringBell(disk: Disk, l: Layout, peer: string): void {
  const file = path.join(l.live, `${peer}.json`);
  if (disk.stamp(file) !== undefined) disk.patch(file, 0, '{');
}
