/** Locks as entries that name the task that holds them. A lock whose task has ended is free. */
import type { Locks } from '../../ports/store/locks.js';
import type { Shelf } from './shelf.js';

export const TURN = 'turn/';

/** `isOpen`: asks the ledger about tasks that are not `known` to this process as open. */
export function locks(
  shelf: Shelf,
  isKnown: (task: string) => boolean,
  isOpen: (task: string) => Promise<boolean>,
): Locks {
  return {
    async acquire(key, task) {
      const known = shelf.get(key);
      // No lock is taken from an open task; a task that has ended may have lost its lock.
      const isDoubtful = known?.value === task && !isKnown(task);
      for (let held = isDoubtful ? await shelf.read(key) : known; ; held = await shelf.read(key)) {
        if (held?.value === task) return true;
        if (held !== undefined && held.value !== '' && (await isOpen(held.value))) return false;
        if (await shelf.replace(key, held, task)) return true;
      }
    },
    async release(key, task) {
      for (let held = await shelf.read(key); held?.value === task; held = await shelf.read(key))
        if (await shelf.replace(key, held, undefined)) return;
    },
    async holder(key) {
      const held = await shelf.read(key);
      return held !== undefined && held.value !== '' && (await isOpen(held.value)) ? held.value : undefined;
    },
  };
}
