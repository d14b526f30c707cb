/**
 * Which processes are alive. Each renews its own entry. A process that does not renew for a whole
 * lease, in observed time, is declared dead, and from then on none of its writes succeeds.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Peer, Rank } from '../../domain/peer.js';
import type { Entry, Ledger } from '../../ports/ledger.js';
import type { Presence } from '../../ports/store/presence.js';
import type { Looks } from './looks.js';
import type { Cell } from './batch.js';
import type { Outbox } from './outbox.js';
import { declaredDead } from './problems.js';
import { silence } from './silence.js';

export interface FarPresence extends Omit<Presence, 'sweep'> {
  isAlive(peer: string): boolean;
  /** Call it after each look: declares peers dead that did not renew. */
  judge(): Promise<void>;
  /** Renews the lease if that is overdue; call it before new work. */
  renewIfLate(): Promise<void>;
  /** Ends the lease of this process; others may then take its tasks. */
  leave(): Promise<void>;
  /** The next renewal tells others why this process takes no work; undefined: it takes work. */
  hold(reason: string | undefined): void;
  /** Stops renewing the lease, like a process that is gone. */
  stop(): void;
}

interface Seen {
  peer: Peer;
  readonly cell: Cell;
}

interface PresenceOptions {
  me: Peer;
  ledger: Ledger;
  outbox: Outbox;
  looks: Looks;
  leaseMs: number;
  monotonicMs: () => number;
  /** Calls `act` at this interval until the returned function is called. */
  every: (ms: number, act: () => void) => () => void;
  /** Earlier peer ids of this process; it closed the stores that it had opened under them. */
  abandoned: ReadonlySet<string>;
  /** It only reads, so it leaves it to others to declare processes dead. */
  isReader: boolean;
  /** Whether this machine knows that the process has ended. */
  isGone: (peer: Peer) => boolean;
  /** The peer is dead, as far as this process knows. */
  died: (peer: string) => void;
}

const PREFIX = 'peer/';

export function presence(options: PresenceOptions): FarPresence {
  const { me, ledger, outbox, looks, leaseMs, monotonicMs } = options;
  const living = new Map<string, Seen>();
  const own: Cell = { key: PREFIX + me.id, rev: 0 };
  const quiet = silence(leaseMs, monotonicMs);
  let joining: Promise<void> | undefined;
  let burying: Promise<void> | undefined;
  let isJoined = false;
  let isLeaving = false;
  let renewedAt = 0;
  let renewing: Promise<void> | undefined;
  let stop = (): void => undefined;
  /** This process rings these itself if it finds that the number of living peers has changed. */
  const bells = new Set<{ ring(): void }>();
  looks.add({
    prefix: PREFIX,
    learn,
    keys: () => [...living.keys()].map((id) => PREFIX + id),
    forget: (key) => lost(key.slice(PREFIX.length)),
  });

  return {
    peer: me,
    join: () => (joining ??= join()),
    peers: async () => [...living.values()].map(({ peer }) => peer),
    isAlive: (peer) => living.has(peer),
    version: () => [...living.keys()].sort().join(' '),
    rank,
    ringOthers: () => ledger.ring(),
    async onRing(ring, { workOnly = false } = {}) {
      const bell = { ring };
      bells.add(bell);
      const off = await ledger.onRing(ring, workOnly ? ['work'] : undefined);
      return async () => {
        bells.delete(bell);
        await off();
      };
    },
    /** Processes of a later rank wait longer: a ring mostly announces work for one process. */
    pace: () => ({
      settleMs: INTERVALS.ringSettleMs + Math.min(INTERVALS.ringSpreadMaxMs, rank().rank * INTERVALS.ringSpreadMs),
      busyGapMs: INTERVALS.busyLookMs,
    }),
    judge,
    async renewIfLate() {
      if (isJoined && monotonicMs() - renewedAt > 0.7 * leaseMs) await renew();
    },
    async leave() {
      stop();
      if (!isJoined) return;
      await renewing;
      isLeaving = true;
      await outbox.set(own, { print: () => JSON.stringify(me), live: false });
      living.delete(me.id);
    },
    hold(reason) {
      if (reason === undefined) delete me.held;
      else me.held = reason;
    },
    stop: () => stop(),
  };

  async function join(): Promise<void> {
    await (burying ??= bury());
    await outbox.set(own, { print: () => JSON.stringify(me), live: true, topic: 'views' });
    outbox.guardBy(own.key);
    isJoined = true;
    renewedAt = monotonicMs();
    living.set(me.id, { peer: me, cell: own });
    await looks.listen();
    stop = options.every(leaseMs / 4, () => void beat().catch((thrown: unknown) => outbox.fail(thrown)));
  }

  /** Renewals ring nobody, so an idle process checks from time to time who is alive. */
  async function beat(): Promise<void> {
    await renew();
    if (looks.isFresh(leaseMs / 8)) return;
    const before = living.size;
    await looks.look();
    await judge();
    if (living.size !== before) for (const { ring } of bells) ring();
  }

  function rank(): Rank {
    const others = [...living.keys()].filter((id) => id !== me.id);
    return { rank: others.filter((id) => id < me.id).length, of: others.length + 1 };
  }

  /** Declares the earlier peer ids of this process dead. */
  async function bury(): Promise<void> {
    for (const id of options.abandoned) {
      const entry = await ledger.get(PREFIX + id);
      if (entry?.live && (await end({ key: entry.key, rev: entry.rev }, entry.value))) lost(id);
    }
  }

  /** One renewal at a time: a second one would expect the revision before the first. */
  function renew(): Promise<void> {
    renewing ??= (async () => {
      const isRenewed = await outbox.set(own, { print: () => JSON.stringify(me), live: true, topic: 'nobody' });
      if (!isRenewed) throw declaredDead();
      renewedAt = monotonicMs();
    })().finally(() => (renewing = undefined));
    return renewing;
  }

  function learn({ key, rev, value, live }: Entry): void {
    const id = key.slice(PREFIX.length);
    if (id === me.id) {
      if (!live && isJoined && !isLeaving) outbox.fail(declaredDead());
      return;
    }
    if (!live) return lost(id);
    const seen = living.get(id);
    if (seen !== undefined && rev > seen.cell.rev) {
      seen.cell.rev = rev;
      seen.peer = JSON.parse(value) as Peer;
    } else if (seen === undefined) living.set(id, { peer: JSON.parse(value) as Peer, cell: { key, rev } });
  }

  async function judge(): Promise<void> {
    quiet.looked();
    if (options.isReader) return;
    await (burying ??= bury());
    for (const [id, seen] of [...living]) {
      if (id === me.id) continue;
      if (!quiet.isOver(seen.cell) && !options.isGone(seen.peer)) continue;
      // A renewal that came in between has another revision and wins.
      if (await end({ ...seen.cell }, JSON.stringify(seen.peer))) lost(id);
    }
  }

  function end(cell: Cell, value: string): Promise<boolean> {
    return outbox.set(cell, { print: () => value, live: false });
  }

  function lost(id: string): void {
    if (id !== me.id && living.delete(id)) options.died(id);
  }
}
