/**
 * Check-ins on the ledger: the note and the memory are entries, so the processes of all machines
 * count one series of check-ins. The file of this machine sets their interval.
 */
import type { CheckInMemory, CheckInNote } from '../../../domain/coordination/check-in.js';
import type { CheckIns } from '../../../ports/check-ins.js';
import type { Shelf } from '../shelf.js';

export const CHECK_IN = 'checkin/';
const NOTE = 'note';
const MEMORY = 'memory';

export function farCheckIns(shelf: Shelf, file: Pick<CheckIns, 'read'>): CheckIns {
  let seen: ReturnType<Shelf['get']>;
  return {
    read() {
      const own = file.read();
      seen = shelf.get(NOTE);
      if (own.kind === 'held' || seen === undefined) return own;
      const note = JSON.parse(seen.value) as CheckInNote;
      return {
        kind: 'note',
        note: own.kind === 'note' ? { ...note, intervalSeconds: own.note.intervalSeconds } : note,
      };
    },
    async write(note) {
      await shelf.replace(NOTE, seen, JSON.stringify(note));
    },
    memory() {
      const held = shelf.get(MEMORY);
      return held && (JSON.parse(held.value) as CheckInMemory);
    },
    async remember(memory) {
      for (let held = shelf.get(MEMORY); ; held = await shelf.read(MEMORY))
        if (await shelf.replace(MEMORY, held, JSON.stringify(memory))) return;
    },
  };
}
