/** The doorbell: file events say that looking may be worth it. Losing every one of them costs time, never truth. */
import path from 'node:path';
import type { Layout } from './layout.js';

export async function bell(l: Layout, ring: () => void): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar');
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
  const watcher = watch(places, {
    ignoreInitial: true,
    depth: 0,
    followSymlinks: false,
    ignorePermissionErrors: true,
    ignored: (file) => file.endsWith('registry.json'),
  });
  watcher.on('all', ring);
  watcher.on('error', ring);
  await new Promise<void>((resolve) => watcher.once('ready', () => resolve()));
  return () => watcher.close();
}
