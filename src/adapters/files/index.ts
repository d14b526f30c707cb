/** The default store: plain files in a folder, as people see them. */
import { INTERVALS } from '../../domain/intervals.js';
import path from 'node:path';
import { isFew, isWarden, patience, type Rank } from '../../domain/peer.js';
import type { Task } from '../../domain/task/task.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { Processes } from '../../ports/processes.js';
import type { Store } from '../../ports/store/index.js';
import type { Tasks } from '../../ports/store/tasks.js';
import { ahead } from './ahead.js';
import { type Lag } from './base/lag.js';
import { writing } from './base/atomic-write.js';
import { claimsFor } from './claims.js';
import { journal } from './journal.js';
import { folders, layout as layoutOf } from './base/layout.js';
import { locks } from './locks.js';
import { openTasks } from './open-tasks.js';
import { presence } from './presence.js';
import { quarantine } from './quarantine.js';
import { blobs } from './records/blobs.js';
import { effects } from './records/effects.js';
import { events } from './records/events.js';
import { intents } from './records/intents.js';
import { sessionVerbs } from './sessions.js';
import { shelves } from './task-lookup.js';
import { taskVerbs } from './tasks.js';
import { bell, ringBell } from './watcher.js';

interface FilesOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  ids: Ids;
  processes: Processes;
  /** Agents this peer hosts; empty: all. */
  agents?: string[];
  /** How long the disk may follow behind, and how long history: for tests and recordings, which must be the same each time. */
  lag?: Lag;
  soon?: Lag;
}

export function files({ root, disk, clock, ids, processes, agents = [], lag, soon }: FilesOptions): Store {
  const layout = layoutOf(root);
  for (const folder of folders(layout))
    disk.makeFolder(folder, folder.startsWith(path.join(root, '.guild')) ? 0o700 : undefined);
  const now = (): Date => clock.now();
  const peer = { id: ids.next(), ...processes.me(), agents, since: now().toISOString() };
  const here = presence(disk, layout, processes, peer);
  const write = writing(disk, layout, peer.id, () => here.join());
  const setAside = quarantine(disk, layout);
  const open = openTasks(disk, layout, setAside, now);
  const log = journal(disk, layout, write, peer.id);
  const queue = ahead(log, (tmp) => void disk.remove(tmp), lag);
  const lookup = shelves(disk, layout, now);
  const verbs = taskVerbs({
    disk,
    l: layout,
    writing: write,
    tasks: open,
    lying: lookup,
    presence: here,
    quarantine: setAside,
    ahead: queue,
    journal: log,
  });
  const eventLog = events(disk, layout, (task) => queue.get(task) !== undefined, soon);
  const rootOf = (task: string): string | undefined => open.byId.get(task)?.task.root;
  const { unclaimed, ...sessions } = sessionVerbs({
    disk,
    l: layout,
    writing: write,
    ahead: queue,
    journal: log,
    rootOf,
  });
  const forSession = (task: Task): void => {
    if (task.session !== undefined) unclaimed(task.session);
  };

  /** The open task that has started in this conversation and can continue, or is parked in it. */
  const startedIn = (session: string): string | undefined => {
    let started: string | undefined;
    for (const { id, state, task } of open.byId.values()) {
      if (task.session !== session) continue;
      if (state === 'waiting') return id;
      if (state === 'pending' && !task.dependencies.some(verbs.isOpen)) started ??= id;
    }
    return started;
  };

  /** Readers never adopt a journal: only a process that sweeps also works here. */
  let works = false;
  function adoptDead(): void {
    if (!works) return;
    for (const other of log.others()) if (other !== peer.id && !here.isAlive(other)) log.adopt(other);
  }

  const tasks: Tasks = {
    ...verbs,
    async scan(full) {
      here.refresh();
      if (here.rejoin()) log.begin();
      if (full) adoptDead();
      return { ...(await verbs.scan(full)), strays: open.strays() };
    },
    async ended(options) {
      adoptDead(); // a dead process may have ended children of a task that is retried
      return verbs.ended(options);
    },
    // A task whose file cannot be read is still open: others wait for it, and it is not created again.
    isOpen: (id) => verbs.isOpen(id) || open.heldFile(id) !== undefined,
    unreadable: (id) => open.heldFile(id),
    create: async (task, options) => open.heldFile(task.id) === undefined && verbs.create(task, options),
    async claim(id, agent) {
      here.join();
      const claim = verbs.claim(id, agent);
      if (claim) forSession(claim.task);
      return claim;
    },
    claimsFor: async (agent) =>
      claimsFor({ disk, l: layout, tasks: open, lying: lookup, isAlive: here.isAlive }, agent),
    async takeOver(id) {
      here.join();
      const owner = open.byId.get(id)?.owner?.peer;
      // Adopt the journal first: if this process dies after the take-over, its successor would not look for it.
      const unseen = owner === undefined || here.isAlive(owner) ? 0 : log.adopt(owner);
      const claim = verbs.takeOver(id);
      return claim && unseen > 0 ? { ...claim, unseen } : claim;
    },
    park(claim, task, options) {
      forSession(task);
      return verbs.park(claim, task, options);
    },
    release(claim, task) {
      forSession(task);
      return verbs.release(claim, task);
    },
    changedSince: (version) => open.changedSince(version),
  };

  return {
    tasks,
    sessions,
    locks: locks(disk, layout, peer.id, (id) => verbs.isOpen(id) || verbs.liesOpen(id), startedIn),
    effects: effects(disk, layout, write, now),
    blobs: blobs(disk, layout, write),
    intents: intents(disk, layout, write, now),
    events: eventLog,
    views: { write: (file, text) => write.show(path.join(root, file), text) },
    presence: {
      peer,
      join: async () => here.join(),
      peers: async () => here.peers(),
      version: () => here.stamp(),
      rank,
      ringOthers() {
        if (rank().of > 1) ringBell(disk, layout, peer.id);
      },
      onRing,
      async sweep() {
        here.refresh();
        works = true;
        adoptDead();
        verbs.sweep();
        here.sweep();
      },
    },
    async flush({ visible = true } = {}) {
      if (queue.isBehind()) await (visible ? queue.caughtUp() : queue.safe());
      await Promise.all([eventLog.flush(), disk.removed?.()]);
    },
    async close() {
      // On failure the journal stays, and the next process makes the files from it.
      const isWritten = await queue.caughtUp().then(
        () => true,
        () => false,
      );
      await Promise.all([eventLog.flush(), disk.removed?.()]);
      if (isWritten) await log.settle().then(log.close, () => undefined);
      here.leave();
    },
  };

  function rank(): Rank {
    try {
      return here.rank();
    } catch {
      return { rank: 0, of: 1 }; // the disk failed; the next scan reports it
    }
  }

  /** The death of a process changes no file, so peers check for it. */
  function checkPeers(ring: () => void): void {
    try {
      if (!here.tendOthers()) return;
      adoptDead();
      ring();
    } catch {
      ring(); // the disk failed; the next scan reports it
    }
  }

  async function onRing(ring: () => void): Promise<() => Promise<void>> {
    let timer: NodeJS.Timeout | undefined;
    let late: NodeJS.Timeout | undefined;
    const schedule = (): void => {
      clearTimeout(timer);
      const me = rank();
      timer = setTimeout(
        check,
        (isFew(me) ? INTERVALS.peerCheckMs : INTERVALS.peerCheckOfManyMs) * patience(me),
      ).unref();
    };
    const peersChanged = (gone: boolean): void => {
      if (isWarden(rank())) ring();
      else if (gone)
        late ??= setTimeout(
          () => ((late = undefined), schedule(), ring()),
          Math.random() * INTERVALS.peerNoticeSpreadMs,
        ).unref();
    };
    const watcher = bell(layout, { ring, peers: peersChanged, touched: open.doubt });
    const check = (): void => {
      checkPeers(ring);
      if (watcher.mend()) ring();
      schedule();
    };
    schedule();
    return async () => {
      clearTimeout(timer);
      clearTimeout(late);
      watcher.close();
    };
  }
}

export { isWorkspace } from './base/layout.js';
