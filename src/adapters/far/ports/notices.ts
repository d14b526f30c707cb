/** Notices on the ledger: one entry for each, so that only one machine sends it. */
import { createHash } from 'node:crypto';
import type { Ledger } from '../../../ports/ledger.js';
import type { NoticeName, Notices } from '../../../ports/store/notices.js';
import type { Cell } from '../batch.js';
import type { Outbox } from '../outbox.js';

interface Options {
  ledger: Pick<Ledger, 'get'>;
  outbox: Pick<Outbox, 'set'>;
  peer: string;
  now(): Date;
}

interface Record {
  /** The process that claimed it. */
  peer: string;
  isSent?: true;
}

const NOTICE = 'notice/';
const SINCE = `${NOTICE}since`;

export function farNotices({ ledger, outbox, peer, now }: Options): Notices {
  const claimed = new Map<string, Cell>();
  const put = (cell: Cell, value: string): Promise<boolean> =>
    outbox.set(cell, { print: () => value, live: false, topic: 'views' });

  /** The entry to replace; undefined: it was sent, or a live process has claimed it. */
  async function free(notice: NoticeName, isAlive: (peer: string) => boolean): Promise<Cell | undefined> {
    const key = keyOf(notice);
    const entry = await ledger.get(key);
    if (entry === undefined) return { key, rev: 0 };
    const { peer: holder, isSent } = JSON.parse(entry.value) as Record;
    return isSent || holder === peer || isAlive(holder) ? undefined : { key, rev: entry.rev };
  }

  return {
    async since() {
      const at = now();
      if (await put({ key: SINCE, rev: 0 }, at.toISOString())) return at;
      return new Date((await ledger.get(SINCE))?.value ?? at);
    },
    isKnown: async (notice, isAlive) => (await free(notice, isAlive)) === undefined,
    async claim(notice, isAlive) {
      const cell = await free(notice, isAlive);
      if (cell === undefined || !(await put(cell, JSON.stringify({ peer } satisfies Record)))) return false;
      claimed.set(cell.key, cell);
      return true;
    },
    async sent(notice) {
      const cell = claimed.get(keyOf(notice));
      if (cell === undefined) return;
      claimed.delete(cell.key);
      await put(cell, JSON.stringify({ peer, isSent: true } satisfies Record));
    },
  };
}

function keyOf({ kind, task }: NoticeName): string {
  return `${NOTICE}${kind}-${createHash('sha256').update(task).digest('hex').slice(0, 20)}`;
}
