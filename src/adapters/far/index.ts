/**
 * The store for several machines, on any ledger. Open work is in memory and brought up to date by
 * looks; everything that several processes may compete for is an entry with a revision. The entry
 * that a process renews is also its fence: each of its commits depends on it, so a process that was
 * declared dead cannot write anything, whatever it believes to hold.
 */

// what          key               live         written by
// task          task/<id>         while open   create-once, then the revision last seen
// process       peer/<id>         while alive  itself, or the one that declares it dead
// lock          turn/<key>        while held   the revision last seen
// intent        intent/<id>       until done   create-once; ended by the process that acted
// effect        effect/<id>       no           create-once, then its outcome
// blob          blob/<sha256>     no           create-once
// conversation  log session/<id>               appended where it ends
// removed       undone/<key>      until made   the undo that removed the task or conversation
// event         log events                     appended anywhere, labelled by task
// evidence      log evidence                   appended anywhere, labelled by task
import type { Peer } from '../../domain/peer.js';
import type { EndedState, Placed, Task } from '../../domain/task/task.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Entry, Ledger, Topic } from '../../ports/ledger.js';
import type { ProcessIdentity } from '../../ports/processes.js';
import type { Store } from '../../ports/store/index.js';
import { effects, type Witness } from './effects.js';
import { locks, TURN } from './locks.js';
import { freshness, type Freshness } from './freshness.js';
import { looks, type Heard } from './looks.js';
import { outbox, type Outbox } from './outbox.js';
import { presence } from './presence.js';
import { blobs, events, INTENT, intents } from './records.js';
import { rows } from './rows.js';
import { sessionVerbs } from './sessions.js';
import { shelf, type Shelf } from './shelf.js';
import { endedInPages, keptOfEnded } from './task-lists.js';
import { taskVerbs } from './tasks.js';
import { undone, UNDONE } from './undone.js';

export interface FarOptions {
  ledger: Ledger;
  clock: Clock;
  ids: Ids;
  me: ProcessIdentity;
  /** Agents this peer hosts; empty: all. */
  agents?: string[];
  leaseMs?: number;
  /** Earlier peer ids of this process; it closed the stores that it had opened under them. */
  abandoned?: ReadonlySet<string>;
  /** Whether this machine knows that a process has ended. */
  isGone?: (peer: Peer) => boolean;
  witness?: Witness;
  /** Removes files that dead processes of this machine left. */
  sweep?: () => void;
  /** It only reads, so it leaves it to others to declare processes dead. */
  isReader?: boolean;
  /** When changes that nobody waits for are sent; tests fix it. */
  lag?: (wake: () => void) => void;
  /** Calls `act` at intervals until the returned function is called. Tests replace it. */
  every?: (ms: number, act: () => void) => () => void;
}

export interface FarStore extends Store {
  /** Stops renewing, as a process that is gone does. */
  stop(): void;
  /** Shows other machines why this process takes no work; undefined if it does. */
  hold(reason: string | undefined): void;
  /** State that other ports on the same ledger share. */
  readonly far: FarParts;
}

/** State that the ports on one ledger share: one queue of commits, and one view of live entries. */
export interface FarParts {
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  shelf(prefix: string): Shelf;
  /** For a component that checks changes of this topic itself. */
  freshness(topic: Topic): Freshness;
  /** Collects the changes of entries with these keys. */
  collect(prefix: string): Heard;
  look(): Promise<void>;
  /** Calls back for each task that this process creates or sees for the first time. */
  onNew(hear: (task: Task) => void): void;
  /** Reads ended tasks in pages and keeps of each only what `keep` returns. Newest first. */
  keptOfEnded<T>(states: readonly EndedState[], keep: (placed: Placed) => T | undefined): Promise<T[]>;
  /** Ended tasks, newest first, read in pages. */
  endedInPages(states: readonly EndedState[]): AsyncIterable<Placed>;
  /** Registers a function that is called before each scan returns. */
  onScan(act: () => Promise<void>): void;
}

/** How long a process may be silent before others take over its work. */
const LEASE_MS = 15_000;
/** Changes that nobody waits for are sent after this time. */
const LAG_MS = 10;

export function far(options: FarOptions): FarStore {
  const { ledger, clock, ids, me, agents = [], leaseMs = LEASE_MS, lag = shortLag, every = interval } = options;
  const peer: Peer = { id: ids.next(), ...me, agents, since: clock.now().toISOString() };
  const monotonicMs = (): number => clock.monotonicMs();
  const seen = looks(ledger, monotonicMs);
  const out = outbox({ ledger, name: peer.id, monotonicMs, lag });
  out.onAnswer((cell, { isAccepted, live }) => {
    if (isAccepted) seen.acknowledged(cell, live);
  });
  const read = (key: string): Promise<Entry | undefined> => ledger.get(key);
  const shared = { outbox: out, looks: seen, read };
  const table = rows(shared);
  const here = presence({
    me: peer,
    ledger,
    outbox: out,
    looks: seen,
    leaseMs,
    monotonicMs,
    every,
    abandoned: options.abandoned ?? new Set(),
    isReader: options.isReader ?? false,
    isGone: options.isGone ?? (() => false),
    died(id) {
      for (const row of table.index.byId.values()) if (row.owner?.peer === id) table.index.touch(row.id);
    },
  });
  const beforeScanEnds: (() => Promise<void>)[] = [];
  const removed = undone(shelf(UNDONE, shared), ledger);
  const work = { ledger, outbox: out, looks: seen, rows: table, presence: here, undone: removed };
  const tasks = taskVerbs({ ...work, beforeScanEnds });
  const isOpen = async (id: string): Promise<boolean> => {
    if (tasks.isOpen(id)) return true;
    const state = (await tasks.read(id))?.state;
    return state !== undefined && state !== 'completed' && state !== 'failed';
  };
  const now = (): Date => clock.now();
  return {
    tasks,
    sessions: sessionVerbs(ledger, out, removed),
    locks: locks(shelf(TURN, shared), tasks.isOpen, isOpen),
    effects: effects({ outbox: out, read, peer: peer.id, now, witness: options.witness ?? noWitness() }),
    blobs: blobs(out, read),
    intents: intents(shelf(INTENT, shared), seen),
    events: events(ledger, out),
    // People look at the folder of a mirror, so a worker writes no files for them.
    views: { write() {} },
    presence: { ...here, sweep: async () => options.sweep?.() },
    flush: () => out.flush(),
    stats: () => ({ worstLagMs: out.worstLagMs() }),
    async close() {
      try {
        await out.flush();
        await here.leave();
      } finally {
        here.stop();
        await ledger.close();
      }
    },
    stop: here.stop,
    hold: here.hold,
    far: {
      ledger,
      outbox: out,
      shelf: (prefix) => shelf(prefix, shared),
      freshness: (topic) => freshness(ledger, topic, monotonicMs, seen.learned),
      collect: seen.collect,
      look: seen.look,
      onNew: table.onNew,
      async keptOfEnded(states, keep) {
        await out.flush();
        return keptOfEnded(ledger, states, keep);
      },
      endedInPages: (states) => endedInPages(ledger, states),
      onScan: (act) => void beforeScanEnds.push(act),
    },
  };
}

function shortLag(wake: () => void): void {
  setTimeout(wake, LAG_MS);
}

function interval(ms: number, act: () => void): () => void {
  const timer = setInterval(act, ms);
  timer.unref();
  return () => clearInterval(timer);
}

function noWitness(): Witness {
  return { started: () => undefined, note() {} };
}
