/** The default store: plain files in a folder, as people see them. */
import path from 'node:path';
import { isFew, isWarden, patience, type Rank } from '../../domain/peer.js';
import type { Task } from '../../domain/task/task.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { Processes } from '../../ports/processes.js';
import type { Store } from '../../ports/store.js';
import { ahead, type Lag } from './ahead.js';
import { bell, ringBell } from './watcher.js';
import { claimsFor } from './claims.js';
import { journal } from './journal.js';
import { folders, layout } from './layout.js';
import { openTasks } from './open-tasks.js';
import { presence } from './presence.js';
import { quarantine } from './quarantine.js';
import { recordVerbs } from './records.js';
import { sessionVerbs } from './sessions.js';
import { shelves } from './task-lookup.js';
import { taskVerbs } from './tasks.js';
import { turns } from './locks.js';
import { writing } from './atomic-write.js';

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

/** How soon the death of another process is noticed, and among many. */
const LOOK_MS = 1000;
const LOOK_OF_MANY_MS = 2000;
/** Of many, those who look after nobody hear of a death within this time, each at its own moment: who was dead is seen to by then. */
const LATE_MS = 1000;

export function files({ root, disk, clock, ids, processes, agents = [], lag, soon }: FilesOptions): Store {
  const l = layout(root);
  for (const folder of folders(l))
    disk.makeFolder(folder, folder.startsWith(path.join(root, '.guild')) ? 0o700 : undefined);
  const now = (): Date => clock.now();
  const peer = { id: ids.next(), ...processes.me(), agents, since: now().toISOString() };
  const here = presence(disk, l, processes, peer);
  const write = writing(disk, l, peer.id, () => here.join());
  const setAside = quarantine(disk, l);
  const tasks = openTasks(disk, l, setAside, now);
  const kept = journal(disk, l, write, peer.id);
  const onItsWay = ahead(kept, (tmp) => void disk.remove(tmp), lag);
  const { caughtUp } = onItsWay;
  const lying = shelves(disk, l, now);
  const verbs = taskVerbs({
    disk,
    l,
    writing: write,
    tasks,
    lying,
    presence: here,
    quarantine: setAside,
    ahead: onItsWay,
    journal: kept,
  });
  const records = recordVerbs(disk, l, write, now, (task) => onItsWay.get(task) !== undefined, soon);
  const rootOf = (task: string): string | undefined => tasks.byId.get(task)?.task.root;
  const { unclaimed, ...sessions } = sessionVerbs({ disk, l, writing: write, ahead: onItsWay, journal: kept, rootOf });
  const forSession = (task: Task): void => {
    if (task.session !== undefined) unclaimed(task.session);
  };

  /** A task that has begun in this conversation and can go on in it, or is parked in its middle. */
  const begunIn = (session: string): string | undefined => {
    let begun: string | undefined;
    for (const { id, state, task } of tasks.byId.values()) {
      if (task.session !== session) continue;
      if (state === 'waiting') return id;
      if (state === 'pending' && !task.dependencies.some(verbs.isOpen)) begun ??= id;
    }
    return begun;
  };

  /** Whoever only looks makes nothing. */
  let works = false;
  function adoptDead(): void {
    if (!works) return;
    for (const other of kept.others()) if (other !== peer.id && !here.isAlive(other)) kept.adopt(other);
  }

  /** The death of a process changes no file, so somebody has to look. */
  function lookAround(ring: () => void): void {
    try {
      if (!here.tendOthers()) return;
      adoptDead();
      ring();
    } catch {
      ring(); // the disk failed; whoever looks next meets it too, where it can be told
    }
  }

  function rank(): Rank {
    try {
      return here.rank();
    } catch {
      return { rank: 0, of: 1 }; // as above
    }
  }

  return {
    ...verbs,
    ...sessions,
    ...records,
    async scan(full) {
      here.refresh();
      if (here.rejoin()) kept.begin();
      if (full) adoptDead();
      return { ...(await verbs.scan(full)), strays: tasks.strays() };
    },
    async ended(options) {
      adoptDead(); // what failed under a task that is tried again may be there
      return verbs.ended(options);
    },
    // Whoever waits for a task waits for it also while nobody can read its file, and nobody makes it anew meanwhile.
    isOpen: (id) => verbs.isOpen(id) || tasks.heldFile(id) !== undefined,
    heldFile: (id) => tasks.heldFile(id),
    create: (task, haste) =>
      tasks.heldFile(task.id) === undefined ? verbs.create(task, haste) : Promise.resolve(false),
    async claim(id, agent) {
      here.join();
      const claim = verbs.claim(id, agent);
      if (claim) forSession(claim.task);
      return claim;
    },
    claimsFor: async (agent) => claimsFor({ disk, l, tasks, lying, isAlive: here.isAlive }, agent),
    async takeOver(id) {
      here.join();
      const owner = tasks.byId.get(id)?.owner?.peer;
      // First: if we die right after taking it, nobody looks for what the one before us said.
      const unseen = owner === undefined || here.isAlive(owner) ? 0 : kept.adopt(owner);
      const claim = verbs.takeOver(id);
      return claim && unseen > 0 ? { ...claim, unseen } : claim;
    },
    park(claim, task, haste) {
      forSession(task);
      return verbs.park(claim, task, haste);
    },
    release(claim, task) {
      forSession(task);
      return verbs.release(claim, task);
    },
    ...turns(disk, l, peer.id, (id) => verbs.isOpen(id) || verbs.liesOpen(id), begunIn),
    changedSince: (changes) => tasks.changedSince(changes),
    peer,
    join: async () => here.join(),
    peers: async () => here.peers(),
    peersStamp: () => here.stamp(),
    rank,
    ringOthers() {
      if (rank().of > 1) ringBell(disk, l, peer.id);
    },
    async onRing(ring) {
      let timer: NodeJS.Timeout | undefined;
      let late: NodeJS.Timeout | undefined;
      const again = (): void => {
        clearTimeout(timer);
        const me = rank();
        timer = setTimeout(look, (isFew(me) ? LOOK_MS : LOOK_OF_MANY_MS) * patience(me)).unref();
      };
      const peers = (gone: boolean): void => {
        if (isWarden(rank())) ring();
        else if (gone)
          late ??= setTimeout(() => ((late = undefined), again(), ring()), Math.random() * LATE_MS).unref();
      };
      const hooked = bell(l, { ring, peers, touched: tasks.doubt });
      const look = (): void => {
        lookAround(ring);
        if (hooked.mend()) ring();
        again();
      };
      again();
      return async () => {
        clearTimeout(timer);
        clearTimeout(late);
        hooked.close();
      };
    },
    async sweep() {
      here.refresh();
      works = true;
      adoptDead();
      verbs.sweep();
      here.sweep();
    },
    async flush({ behind = false } = {}) {
      if (onItsWay.isBehind()) await (behind ? onItsWay.safe() : caughtUp());
      await Promise.all([records.flush(), disk.removed?.()]);
    },
    async close() {
      // If not, who asked for it was told, or will find it undone; whoever comes next makes the files from the journal.
      const isWritten = await caughtUp().then(
        () => true,
        () => false,
      );
      await Promise.all([records.flush(), disk.removed?.()]);
      if (isWritten) await kept.settle().then(kept.close, () => undefined);
      here.leave();
    },
  };
}

export { isWorkspace } from './layout.js';
