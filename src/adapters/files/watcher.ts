/**
 * Watches the folders of a workspace. A file event is only a hint to scan: losing one costs time,
 * never correctness. There is one watch per folder and none per file, because every process of the
 * workspace receives every event.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './base/layout.js';

interface Watcher {
  /**
   * Watches folders that were created or replaced since; true if events may have been missed. Cheap
   * if there are none.
   */
  rewatch(): boolean;
  close(): void;
}

interface Listener {
  ring(): void;
  /** A process joined or left. */
  peers(gone: boolean): void;
  /** Something happened to this file. True if the store may not know it yet; `ring` follows. */
  touched(file: string): boolean;
}

export function watchWorkspace(layout: Layout, { ring, peers, touched }: Listener): Watcher {
  const folders = [
    layout.tasks('pending'),
    layout.tasks('waiting'),
    layout.tasks('active'),
    layout.intents,
    layout.live,
    path.join(layout.root, 'agents'),
    path.join(layout.root, 'tasks'),
    path.join(layout.root, 'inbox'),
    path.join(layout.root, 'bus'),
    layout.paused,
  ];
  const watchers = new Map<string, fs.FSWatcher>();
  /** Files with events since the last turn of the event loop: a task that ends has several. */
  const heard = new Set<string>();
  for (const folder of [layout.root, ...folders]) watch(folder);
  return {
    rewatch: rewatch,
    close() {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
      heard.clear();
    },
  };

  function rewatch(): boolean {
    const missing = folders.filter((folder) => !watchers.has(folder));
    return missing.filter(watch).length > 0;
  }

  /**
   * False if there is no such folder, or the system has no watches left: then only the clock
   * triggers scans.
   */
  function watch(folder: string): boolean {
    try {
      const watcher = fs.watch(folder, (kind, name) => onEvent(folder, kind, name));
      watcher.on('error', () => (unwatch(folder), ring()));
      watchers.set(folder, watcher);
      return true;
    } catch {
      return false;
    }
  }

  function onEvent(folder: string, kind: string, name: string | null): void {
    const full = name === null ? folder : path.join(folder, name);
    // A folder that was created or replaced. An event about the watched folder itself has its own
    // name.
    const replaced =
      kind !== 'rename'
        ? undefined
        : folders.find((other) => other === full || (other === folder && name === path.basename(folder)));
    if (replaced !== undefined) {
      unwatch(replaced);
      rewatch();
      return ring();
    }
    if (folder === layout.root || name === 'registry.json') return;
    if (folder !== layout.live || name === null) {
      if (heard.size === 0) setImmediate(tell);
      return void heard.add(full);
    }
    if (!name.endsWith('.json') || name.startsWith('.')) return;
    if (kind === 'change') ring();
    else peers(!fs.existsSync(full));
  }

  function tell(): void {
    const files = [...heard];
    heard.clear();
    if (files.filter(touched).length > 0) ring();
  }

  function unwatch(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }
}

/**
 * Wakes every process of the workspace, this one included, by rewriting the first byte of its own
 * presence file.
 */
export function ringPeers(disk: Disk, layout: Layout, peer: string): void {
  const file = path.join(layout.live, `${peer}.json`);
  if (disk.stamp(file) !== undefined) disk.patch(file, 0, '{');
}
