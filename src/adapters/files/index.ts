/** The default store: plain files in a folder that people can read and edit. */
import path from 'node:path';
import type { Task } from '../../domain/task/task.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { Processes } from '../../ports/processes.js';
import type { Store } from '../../ports/store/index.js';
import type { Tasks } from '../../ports/store/tasks.js';
import { ahead } from './ahead.js';
import { type Lag } from './base/lag.js';
import { atomicWrite } from './base/atomic-write.js';
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
import { taskLookup } from './task-lookup.js';
import { taskVerbs } from './tasks.js';
import { ringing } from './ringing.js';

interface FilesOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  ids: Ids;
  processes: Processes;
  /** Agents this peer hosts; empty: all. */
  agents?: string[];
  /** Delays of the write-behind queue and of the event log; tests and recordings fix them. */
  lag?: Lag;
  soon?: Lag;
}

export function files(options: FilesOptions): Store {
  const { root, disk } = options;
  const { layout, peer, here, write, open, log, queue, lookup, verbs, eventLog, sessions, unclaimed, now } =
    openParts(options);
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
    // A task whose file cannot be read is still open: others wait for it, and it is not created
    // again.
    isOpen: (id) => verbs.isOpen(id) || open.unreadable(id) !== undefined,
    unreadable: (id) => open.unreadable(id),
    create: async (task, options) => open.unreadable(task.id) === undefined && verbs.create(task, options),
    async claim(id, agent) {
      here.join();
      const claim = verbs.claim(id, agent);
      if (claim) forSession(claim.task);
      return claim;
    },
    claimsFor: async (agent) => claimsFor({ disk, layout, tasks: open, lookup, isAlive: here.isAlive }, agent),
    async takeOver(id) {
      here.join();
      const owner = open.byId.get(id)?.owner?.peer;
      // Adopt the journal first: if this process dies after the take-over, its successor would not
      // look for it.
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
    locks: locks(disk, layout, peer.id, (id) => verbs.isOpen(id) || verbs.isOpenOnDisk(id), startedIn),
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
      ...ringing({ disk, layout, presence: here, adoptDead, touched: open.doubt }),
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
}

/** The modules that the ports share, in order of construction. */
function openParts({ root, disk, clock, ids, processes, agents = [], lag, soon }: FilesOptions) {
  const layout = layoutOf(root);
  for (const folder of folders(layout))
    disk.makeFolder(folder, folder.startsWith(path.join(root, '.guild')) ? 0o700 : undefined);
  const now = (): Date => clock.now();
  const peer = { id: ids.next(), ...processes.me(), agents, since: now().toISOString() };
  const here = presence(disk, layout, processes, peer);
  const write = atomicWrite(disk, layout, peer.id, () => here.join());
  const moveToQuarantine = quarantine(disk, layout);
  const open = openTasks(disk, layout, moveToQuarantine, now);
  const log = journal(disk, layout, write, peer.id);
  const queue = ahead(log, (tmp) => void disk.remove(tmp), lag);
  const lookup = taskLookup(disk, layout, now);
  const verbs = taskVerbs({
    disk,
    layout,
    write,
    tasks: open,
    lookup,
    presence: here,
    quarantine: moveToQuarantine,
    ahead: queue,
    journal: log,
  });
  const eventLog = events(disk, layout, (task) => queue.get(task) !== undefined, soon);
  const rootOf = (task: string): string | undefined => open.byId.get(task)?.task.root;
  const { unclaimed, ...sessions } = sessionVerbs({
    disk,
    layout,
    write,
    ahead: queue,
    journal: log,
    rootOf,
  });
  return { layout, peer, here, write, open, log, queue, lookup, verbs, eventLog, sessions, unclaimed, now };
}

export { isWorkspace } from './base/layout.js';
