/** Reasons why the work of a store cannot be moved or continued now. */
import { randomUUID } from 'node:crypto';
import { clock } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import type { Peer } from '../../domain/peer.js';
import { problemError, type ProblemError } from '../../domain/problem.js';
import type { Entry, Ledger, Put } from '../../ports/ledger.js';
import { readConfig } from '../readers/read-config.js';

const PEER = 'peer/';

/** The entry that records how much of a folder was pushed. */
export const MARK = 'pushed';

export interface Mark {
  /** Identifies the folder's content. */
  push: string;
  /** The commits made so far. */
  made?: number;
  isWhole?: boolean;
}

/**
 * Two copies of one workspace must not both work. A process that does not renew for a whole lease
 * is declared dead here, because perhaps no other process is left to do it.
 */
export async function refuseIfWorkedOn(root: string, ledger: Ledger): Promise<void> {
  const seen = await ledger.list(PEER, { live: true });
  if (seen.length === 0) return;
  const { leaseMs } = readConfig(disk(), root, {}).config.coordination;
  const { monotonicMs, sleep } = clock();
  const untilMs = monotonicMs() + leaseMs;
  while (monotonicMs() < untilMs) {
    await sleep(leaseMs / 8);
    const now = await ledger.list(PEER, { live: true });
    const renewed = now.find(({ key, rev }) => !seen.some((one) => one.key === key && one.rev === rev));
    if (renewed !== undefined) throw worksStill(renewed);
    if (now.length === 0) return;
  }
  for (const { key, rev, value } of seen) {
    const put: Put = { key, value, live: false, expect: rev };
    await ledger.commit(randomUUID(), { puts: [put], adds: [] });
  }
  const [last] = await ledger.list(PEER, { live: true });
  if (last !== undefined) throw worksStill(last);
}

function worksStill({ value }: Entry): ProblemError {
  const { host, pid } = JSON.parse(value) as Peer;
  return problemError('store_refused', `a process still works on this store (pid ${pid} on ${host})`, {
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
