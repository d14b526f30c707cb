/**
 * Hints that something was told by another process. A file event names the file, so only its channel is looked at, once for all the events of a
 * moment: our own lines ring as well. Events are only hints: now and then everything is looked at without one.
 */
import fs from 'node:fs';
import { parsePartFile } from './names.js';

/** Where file events do not come, this is how late a note is heard. */
const LOOK_MS = 4000;

/** `look`: at these channels, or at all. `waits`: how many times longer than usual it may be between looks without a hint. */
export function followFolders(
  folders: readonly (readonly [folder: string, before: string])[],
  look: (channels?: Iterable<string>) => void,
  waits: () => number,
): () => void {
  const rung = new Set<string>();
  let soon: NodeJS.Immediate | undefined;
  let isAll = false;
  const now = (): void => {
    const names = isAll ? undefined : [...rung];
    soon = undefined;
    isAll = false;
    rung.clear();
    look(names);
  };
  const ring = (before: string, file: string | null): void => {
    const part = file === null ? undefined : parsePartFile(file);
    if (part !== undefined) rung.add(before + part.channel);
    else if (file === null) isAll = true;
    else return; // a folder, or a file of another kind
    soon ??= setImmediate(now);
  };
  const watchers = folders.flatMap(([folder, before]) => {
    try {
      const watcher = fs.watch(folder, { persistent: false }, (_, file) => ring(before, file));
      watcher.on('error', () => undefined);
      return [watcher];
    } catch {
      return []; // no more watches to be had: the clock does it
    }
  });
  const mayRest = watchers.length === folders.length;
  let timer: NodeJS.Timeout;
  const again = (): void => {
    timer = setTimeout(() => (look(), again()), LOOK_MS * (mayRest ? waits() : 1)).unref();
  };
  again();
  return () => {
    clearTimeout(timer);
    clearImmediate(soon);
    for (const watcher of watchers) watcher.close();
  };
}
