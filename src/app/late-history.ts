/**
 * History for a working process. Its code is loaded at the first commit, so that it does not slow
 * down the start. Earlier changes are remembered until then.
 */
import path from 'node:path';
import { markBegun } from '../adapters/git/changes/change-lists.js';
import { processes as realProcesses } from '../adapters/processes/index.js';
import type { Event } from '../domain/event.js';
import { INTERVALS } from '../domain/intervals.js';
import type { Audit } from '../engine/core/context.js';
import type { Disk } from '../ports/disk.js';
import type { History } from '../ports/history.js';
import type { Store } from '../ports/store/index.js';
import type { HistoryOptions } from './readers/history.js';

type WorkingHistory = Pick<History, 'changed' | 'commit' | 'hurry' | 'close'>;

export function lateHistory(options: HistoryOptions): WorkingHistory {
  /** Never part of the history. A process that changes nothing else does not load the history. */
  const ownFiles = path.join(options.root, '.guild', path.sep);
  const processes = options.processes ?? realProcesses();
  let early = new Set<string>();
  let removeMark = (): void => {};
  let history: History | undefined;
  let loading: Promise<History> | undefined;
  let isEnding = false;
  // A long-running process commits changes that other processes left and changes of people.
  const timer = setInterval(() => void tend(), INTERVALS.historyCheckMs).unref();
  return {
    changed(file) {
      if (file.startsWith(ownFiles)) return;
      if (history !== undefined) return history.changed(file);
      if (early.size === 0) removeMark = markBegun(path.join(ownFiles, 'history'), processes);
      early.add(file);
    },
    commit: async (...args) => (await load()).commit(...args),
    hurry() {
      history?.hurry();
      isEnding = true;
    },
    async close() {
      clearInterval(timer);
      if (loading !== undefined || early.size > 0) await (await load()).close();
    },
  };

  function load(): Promise<History> {
    loading ??= import('./readers/history.js').then((module) => {
      history = module.history({ ...options, processes, background: true });
      for (const file of early) history.changed(file);
      early = new Set();
      removeMark();
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

/** A disk that reports which files it changed. */
export function watchedDisk(disk: Disk, changed: (file: string) => void): Disk {
  return {
    ...disk,
    create(file, bytes) {
      const isNew = disk.create(file, bytes);
      if (isNew) changed(file);
      return isNew;
    },
    append(file, bytes) {
      const stamp = disk.append(file, bytes);
      changed(file);
      return stamp;
    },
    patch(file, offset, bytes) {
      const stamp = disk.patch(file, offset, bytes);
      changed(file);
      return stamp;
    },
    rename(from, to) {
      const isMoved = disk.rename(from, to);
      if (isMoved) {
        changed(from);
        changed(to);
      }
      return isMoved;
    },
    link(from, to) {
      const isLinked = disk.link(from, to);
      if (isLinked) changed(to);
      return isLinked;
    },
    remove(file) {
      const isRemoved = disk.remove(file);
      if (isRemoved) changed(file);
      return isRemoved;
    },
    async createSynced(file, bytes) {
      await disk.createSynced(file, bytes);
      changed(file);
    },
  };
}
