/** Finds and reads the file of a task on the disk, whatever its state and whatever memory says. */
import path from 'node:path';
import { fenced, isUnreadable, type Unreadable } from '../../domain/fence.js';
import type { EndedState, Placed, Task } from '../../domain/task/task.js';
import { writtenAt } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { EndedOptions } from '../../ports/store/tasks.js';
import { parseTask, type TaskParsed } from '../../text/records/task.js';
import type { Layout } from './base/layout.js';
import { lookThoroughly } from './base/look-thoroughly.js';
import { claimOf, hasEnded, readableStamp } from './base/where-now.js';

export interface TaskLookup {
  /** In any state, under any name that the program gives. */
  has(id: string): boolean;
  /** Undefined if there is no such file, or it does not parse. */
  read(file: string, id: string): Task | undefined;
  /** Caches the content of this file, which has this stamp. */
  remember(file: string, task: Task, stamp: string | undefined): void;
  /** Newest first, without those that cannot be read. */
  ended(options: EndedOptions): Placed[];
}

/** Enough for tasks that ended a moment ago: parents and those who wait for runs read them. */
const MAX_CACHED = 1000;

/** `isAlone`: no other process moves tasks. */
export function taskLookup(disk: Disk, layout: Layout, now: () => Date, isAlone: () => boolean): TaskLookup {
  const cache = new Map<string, { stamp: string; task: Task }>();
  return { has, read, remember, ended };

  function remember(file: string, task: Task, stamp: string | undefined): void {
    if (stamp === undefined) return;
    cache.set(file, { stamp, task });
    if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!);
  }

  function has(id: string): boolean {
    return lookThoroughly(() => isSomewhere(id) || undefined, isAlone) ?? false;
  }

  function isSomewhere(id: string): boolean {
    const isIn = (state: 'pending' | 'waiting'): boolean => disk.stamp(layout.task(state, id)) !== undefined;
    return hasEnded(disk, layout, id) || isIn('pending') || isIn('waiting') || claimOf(disk, layout, id) !== undefined;
  }

  function read(file: string, name: string): Task | undefined {
    const stamp = readableStamp(disk, file);
    if (stamp === undefined) return undefined; // a stamp costs a tenth of a failing open
    const last = cache.get(file);
    if (last?.stamp === stamp) return last.task;
    const parsed = parse(file, name);
    return parsed?.kind === 'task' ? parsed.task : undefined;
  }

  function parse(file: string, name: string): TaskParsed | Unreadable | undefined {
    const shown = path.relative(layout.root, file);
    return fenced(shown, () => {
      const content = disk.read(file);
      if (content.kind !== 'file') return undefined;
      return parseTask(content.bytes, { file: shown, name, now: now().toISOString() });
    });
  }

  function namesIn(folder: string): string[] {
    const names = fenced(path.relative(layout.root, folder), () => disk.list(folder));
    return isUnreadable(names) ? [] : names;
  }

  function ended({ state, root, limit = Infinity }: EndedOptions): Placed[] {
    const files: { file: string; state: EndedState; at: bigint }[] = [];
    for (const folder of state ? [state] : (['completed', 'failed'] as const)) {
      for (const name of namesIn(layout.tasks(folder))) {
        if (!name.endsWith('.json') || name.startsWith('.')) continue;
        const file = path.join(layout.tasks(folder), name);
        const stamp = readableStamp(disk, file);
        if (stamp !== undefined) files.push({ file, state: folder, at: writtenAt(stamp) });
      }
    }
    files.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
    const placed: Placed[] = [];
    for (const { file, state: folder } of files) {
      if (placed.length >= limit) break;
      const task = read(file, path.basename(file, '.json'));
      if (task && (root === undefined || task.root === root)) placed.push({ task, state: folder });
    }
    return placed;
  }
}
