/** Lists of tasks that the ledger selects: ended ones, and the claims for an agent. */
import { defined } from '../../domain/defined.js';
import type { EndedState, Placed } from '../../domain/task/task.js';
import type { Entry, Ledger } from '../../ports/ledger.js';
import type { Tasks } from '../../ports/store/tasks.js';
import type { Looks } from './looks.js';
import type { Outbox } from './outbox.js';
import type { FarPresence } from './presence.js';
import { claimTag, parseRow, TASK } from './rows.js';

type Ended = NonNullable<Parameters<Tasks['ended']>[0]>;

interface Dependencies {
  ledger: Ledger;
  outbox: Outbox;
  looks: Looks;
  presence: FarPresence;
}

export function taskLists({ ledger, outbox, looks, presence }: Dependencies): Pick<Tasks, 'ended' | 'claimsFor'> {
  return {
    ended,
    async claimsFor(agent) {
      await outbox.flush();
      await looks.look();
      const entries = await ledger.list(TASK, { tag: claimTag(agent), live: true });
      return entries.flatMap(({ key, rev, value }) => {
        const owner = parseRow(value)?.owner;
        if (owner === undefined || !presence.isAlive(owner.peer)) return [];
        return [{ task: key.slice(TASK.length), peer: owner.peer, since: BigInt(rev) }];
      });
    },
  };

  async function ended({ state, root, limit = Infinity }: Ended = {}): Promise<Placed[]> {
    await outbox.flush();
    const containing = root === undefined ? undefined : `"root":${JSON.stringify(root)}`;
    const atMost = limit === Infinity || root !== undefined ? undefined : limit;
    const entries = await ledger.list(TASK, defined({ live: false, tag: state, containing, limit: atMost }));
    const all = entries.flatMap(({ value }) => parseRow(value) ?? []);
    // The limit also counted tasks that an undo removed; a query by state leaves them out.
    if (entries.length === atMost && all.length < atMost && state === undefined) return endedOfStates(atMost);
    return root === undefined ? all : all.filter(({ task }) => task.root === root).slice(0, limit);
  }

  async function endedOfStates(limit: number): Promise<Placed[]> {
    const tags: EndedState[] = ['completed', 'failed'];
    const entries = await Promise.all(tags.map((tag) => ledger.list(TASK, { live: false, tag, limit })));
    const newest = entries.flat().sort((a, b) => b.rev - a.rev);
    return newest.flatMap(({ value }) => parseRow(value) ?? []).slice(0, limit);
  }
}

const PAGE = 250;

/** Ended tasks, newest first, read in pages of each state. */
export async function* endedInPages(ledger: Ledger, states: readonly EndedState[]): AsyncIterable<Placed> {
  const cursors = await Promise.all(states.map((state) => nextPage(ledger, { tag: state, page: [], at: 0 })));
  for (;;) {
    const newest = cursors.reduce<Cursor | undefined>(
      (best, each) => (revOf(each) > revOf(best) ? each : best),
      undefined,
    );
    if (newest === undefined) return;
    const placed = parseRow(newest.page[newest.at++]!.value);
    if (placed !== undefined) yield placed;
    if (newest.at === newest.page.length) await nextPage(ledger, newest);
  }
}

interface Cursor {
  readonly tag: EndedState;
  page: Entry[];
  at: number;
}

function revOf(cursor: Cursor | undefined): number {
  return cursor?.page[cursor.at]?.rev ?? -1;
}

async function nextPage(ledger: Ledger, cursor: Cursor): Promise<Cursor> {
  const before = cursor.page.at(-1)?.rev;
  cursor.page = await ledger.list(TASK, defined({ live: false, tag: cursor.tag, before, limit: PAGE }));
  cursor.at = 0;
  return cursor;
}

/** Reads ended tasks in pages and keeps of each only what `keep` returns. Newest first. */
export async function keptOfEnded<T>(
  ledger: Ledger,
  states: readonly EndedState[],
  keep: (placed: Placed) => T | undefined,
): Promise<T[]> {
  const kept: T[] = [];
  for await (const placed of endedInPages(ledger, states)) {
    const part = keep(placed);
    if (part !== undefined) kept.push(part);
  }
  return kept;
}
