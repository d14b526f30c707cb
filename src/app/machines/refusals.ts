/** Reasons why the work of a store cannot be moved or continued now. */
import type { Peer } from '../../domain/peer.js';
import { problemError } from '../../domain/problem.js';
import type { Ledger } from '../../ports/ledger.js';

/** The entry that records how much of a folder was pushed. */
export const MARK = 'pushed';

export interface Mark {
  /** Identifies the folder's content. */
  push: string;
  /** The commits made so far. */
  made?: number;
  isWhole?: boolean;
}

/** Two copies of one workspace must not both work. */
export async function refuseIfWorkedOn(ledger: Ledger): Promise<void> {
  const [entry] = await ledger.list('peer/', { live: true });
  if (entry === undefined) return;
  const { host, pid } = JSON.parse(entry.value) as Peer;
  throw problemError('store_refused', `a process still works on this store (pid ${pid} on ${host})`, {
    hint: 'stop every guild watch and guild agent start first; one that was killed counts as gone after its lease',
  });
}

export async function readMark(ledger: Ledger): Promise<Mark | undefined> {
  const mark = await ledger.get(MARK);
  return mark && (JSON.parse(mark.value) as Mark);
}

/** Work that was pushed only in part must not be continued. */
export async function refuseIfPartlyPushed(ledger: Ledger): Promise<void> {
  const mark = await readMark(ledger);
  if (mark === undefined || mark.isWhole === true) return;
  throw problemError('store_refused', 'a push into this store was interrupted, so it holds only a part of the work', {
    hint: 'run guild store push again in the same folder; it continues',
  });
}
