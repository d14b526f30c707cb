/**
 * Watches the bus folders for notes of other processes. File events name the changed channel and
 * are handled in batches, because our own writes cause events too. Events can get lost, so every
 * channel is also checked at intervals.
 */
import { INTERVALS } from '../../domain/intervals.js';
import fs from 'node:fs';
import { parseSegmentFile } from './names.js';

/**
 * `look` reads these channels, or all of them. `intervalFactor` stretches the interval between the
 * checks that make up for lost events.
 */
export function followFolders(
  folders: readonly (readonly [folder: string, prefix: string])[],
  look: (channels?: Iterable<string>) => void,
  intervalFactor: () => number,
): () => void {
  const changed = new Set<string>();
  let pending: NodeJS.Immediate | undefined;
  let isUnknown = false;
  const flush = (): void => {
    const names = isUnknown ? undefined : [...changed];
    pending = undefined;
    isUnknown = false;
    changed.clear();
    look(names);
  };
  const ring = (prefix: string, file: string | null): void => {
    const segment = file === null ? undefined : parseSegmentFile(file);
    if (segment !== undefined) changed.add(prefix + segment.channel);
    else if (file === null) isUnknown = true;
    else return; // a folder, or not a segment file
    pending ??= setImmediate(flush);
  };
  const watchers = folders.flatMap(([folder, prefix]) => {
    try {
      const watcher = fs.watch(folder, { persistent: false }, (_, file) => ring(prefix, file));
      watcher.on('error', () => undefined);
      return [watcher];
    } catch {
      return []; // out of watches: rely on the interval
    }
  });
  const isWatched = watchers.length === folders.length;
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    timer = setTimeout(
      () => (look(), schedule()),
      INTERVALS.channelCheckMs * (isWatched ? intervalFactor() : 1),
    ).unref();
  };
  schedule();
  return () => {
    clearTimeout(timer);
    clearImmediate(pending);
    for (const watcher of watchers) watcher.close();
  };
}
