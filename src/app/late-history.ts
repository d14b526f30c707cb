/**
 * History for a working process. Its code is loaded at the first commit, so that it does not slow
 * down the start. Earlier changes are remembered until then.
 */
import path from 'node:path';
import { changeLists } from '../adapters/git/changes/change-lists.js';
import { processes as realProcesses } from '../adapters/processes/index.js';
import type { Event } from '../domain/event.js';
import { INTERVALS } from '../domain/intervals.js';
import type { Audit } from '../engine/core/context.js';
import type { Disk } from '../ports/disk.js';
import type { History } from '../ports/history.js';
import type { Store } from '../ports/store/index.js';
import type { HistoryOptions } from './readers/history.js';

type Watcher = Partial<Pick<History, 'changing'>> & Pick<History, 'changed'>;
type WorkingHistory = Pick<History, 'changing' | 'changed' | 'commit' | 'hurry' | 'close'>;

export function lateHistory(options: HistoryOptions): WorkingHistory {
  /** Never part of the history. A process that changes nothing else does not load the history. */
  const ownFiles = path.join(options.root, '.guild', path.sep);
  const processes = options.processes ?? realProcesses();
  const early = changeLists(options.root, processes);
  let history: History | undefined;
  let loading: Promise<History> | undefined;
  let isEnding = false;
  // A long-running process commits changes that other processes left and changes of people.
  const timer = setInterval(() => void tend(), INTERVALS.historyCheckMs).unref();
  return {
    changing(file) {
      if (!file.startsWith(ownFiles)) (history ?? early).changing(file);
    },
    changed(file) {
      if (!file.startsWith(ownFiles)) (history ?? early).changed(file);
    },
    commit: async (...args) => (await load()).commit(...args),
    hurry() {
      history?.hurry();
      isEnding = true;
    },
    async close() {
      clearInterval(timer);
      if (loading !== undefined || early.size() > 0) await (await load()).close();
      early.close();
    },
  };

  function load(): Promise<History> {
    loading ??= import('./readers/history.js').then((module) => {
      history = module.history({ ...options, processes, background: true });
      for (const name of early.names()) history.changed(path.join(options.root, name));
      early.close();
      if (isEnding) history.hurry();
      return history;
    });
    return loading;
  }

  /** A failure is reported with the next commit. */
  async function tend(): Promise<void> {
    try {
      await (await load()).tend();
    } catch {
      // The next commit fails for the same reason and reports it.
    }
  }
}

/** Passes every event of the store to the history as well. */
export function noted(store: Store, trail: Audit): Store {
  const append = (event: Event): void => {
    store.events.append(event);
    trail.note(event);
  };
  return { ...store, events: { ...store.events, append } };
}

/** A disk that reports which files it changes, before and after. */
export function watchedDisk(disk: Disk, { changing = () => undefined, changed }: Watcher): Disk {
  /** `isDone`: whether this result means a change. */
  const reported = <T>(files: readonly string[], change: () => T, isDone: (result: T) => boolean = () => true): T => {
    for (const file of files) changing(file);
    const result = change();
    if (isDone(result)) for (const file of files) changed(file);
    return result;
  };
  return {
    ...disk,
    create: (file, bytes) => reported([file], () => disk.create(file, bytes), Boolean),
    append: (file, bytes) => reported([file], () => disk.append(file, bytes)),
    patch: (file, offset, bytes) => reported([file], () => disk.patch(file, offset, bytes)),
    rename: (from, to) => reported([from, to], () => disk.rename(from, to), Boolean),
    link: (from, to) => reported([to], () => disk.link(from, to), Boolean),
    remove: (file) => reported([file], () => disk.remove(file), Boolean),
    async createSynced(file, bytes) {
      changing(file);
      await disk.createSynced(file, bytes);
      changed(file);
    },
  };
}
