/**
 * Tasks and conversations that an undo removed. A key of the ledger cannot be created twice, so a
 * live entry names each removed one: the process that creates it again writes on top of the
 * removal. Derived tasks are created again under the same id.
 */
import type { Ledger } from '../../ports/ledger.js';
import { parseRow } from './rows.js';
import type { Shelf } from './shelf.js';

export const UNDONE = 'undone/';

export interface Undone {
  /** Whether this process knows that an undo removed the task or the conversation. */
  has(key: string): boolean;
  /** The revision of the entry of a removed task; 0: the task was created again. */
  revOf(key: string): Promise<number>;
  /** The place where the log of a removed conversation ends. */
  endOf(log: string): Promise<number>;
  /** It was created again. */
  done(key: string): Promise<void>;
}

export function undone(shelf: Shelf, ledger: Pick<Ledger, 'get' | 'lines'>): Undone {
  return {
    has: (key) => shelf.get(key) !== undefined,
    async revOf(key) {
      const entry = await ledger.get(key);
      return entry !== undefined && parseRow(entry.value) === undefined ? entry.rev : 0;
    },
    endOf: async (log) => (await ledger.lines(log, { last: 1 })).end,
    async done(key) {
      const held = shelf.get(key);
      if (held !== undefined) await shelf.replace(key, held, undefined);
    },
  };
}
