/**
 * Locks as small files that name the task that holds them. A lock is taken by exclusive creation. A
 * stale one is renamed away first, so only one of the processes that find it stale continues. That
 * process reuses the file, because the lock of a conversation changes owners at every turn.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Locks } from '../../ports/store/locks.js';
import type { Layout } from './base/layout.js';

const MAX_TRIES = 3;

export function locks(
  disk: Disk,
  layout: Layout,
  peer: string,
  isOpen: (task: string) => boolean,
  /** The open task that has started in this conversation. */
  startedIn: (session: string) => string | undefined,
): Locks {
  let count = 0;
  return {
    async acquire(key, task, { durable = false } = {}) {
      if (!take(key, task)) return false;
      if (!durable) return true;
      const file = path.join(layout.turns, key);
      try {
        await disk.sync(file);
        await disk.syncFolder(layout.turns);
      } catch (error) {
        // Another process took it for a stale lock while it was being written.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
      return holderIn(file) === task;
    },
    async release(key, task) {
      const file = path.join(layout.turns, key);
      if (holderIn(file) === task) removeIf(file, (holder) => holder === task);
    },
    async holder(key) {
      const holder = holderIn(path.join(layout.turns, key));
      return isLive(holder) ? holder : startedIn(key);
    },
  };

  function take(key: string, task: string): boolean {
    const file = path.join(layout.turns, key);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      // If a power cut lost the lock but not the conversation, the conversation's task goes first.
      if (disk.stamp(file) === undefined && !mayBegin(key, task)) return false;
      if (disk.create(file, `${task}\n`)) return true;
      const holder = holderIn(file);
      if (holder === task) return true;
      if (isLive(holder)) return false;
      const isHandedOver = removeIf(
        file,
        (now) => now === holder,
        (temp) => mayBegin(key, task) && handOver(temp, file, holder, task),
      );
      if (isHandedOver) return true;
    }
    return false;
  }

  function mayBegin(key: string, task: string): boolean {
    return (startedIn(key) ?? task) === task;
  }

  /**
   * Removes the lock. If another process replaced it in between, its lock is put back. `before`:
   * called with the removed lock if it is the expected one; returns its result.
   */
  function removeIf(
    file: string,
    isExpected: (holder: string) => boolean,
    before: (temp: string) => boolean = () => false,
  ): boolean {
    const temp = path.join(layout.tmp, `${peer}-turn${++count}`);
    if (!disk.rename(file, temp)) return false;
    const holder = holderIn(temp) ?? '';
    const isHandedOver = isExpected(holder) && before(temp);
    if (!isExpected(holder) && isLive(holder)) disk.link(temp, file);
    disk.remove(temp);
    return isHandedOver;
  }

  /** False if the names differ in length, or another process has the lock now. */
  function handOver(temp: string, file: string, from: string | undefined, to: string): boolean {
    if (Buffer.byteLength(from ?? '') !== Buffer.byteLength(to)) return false;
    disk.patch(temp, 0, to);
    return disk.link(temp, file);
  }

  /** An empty name is a lock that is being written or was torn: it counts as stale. */
  function isLive(holder: string | undefined): boolean {
    return holder !== undefined && holder !== '' && isOpen(holder);
  }

  /** Half a name may be a complete other name, so only a complete line counts. */
  function holderIn(file: string): string | undefined {
    const read = disk.read(file);
    const text = read.kind === 'file' ? read.bytes.toString('utf8') : undefined;
    return text === undefined || text.endsWith('\n') ? text?.trimEnd() : '';
  }
}
