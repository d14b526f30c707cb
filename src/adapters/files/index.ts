/** The default store: plain files in a folder that people can read and edit. */
import path from 'node:path';
import type { Problem } from '../../domain/problem.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { Processes } from '../../ports/processes.js';
import type { Store } from '../../ports/store/index.js';
import type { Tasks } from '../../ports/store/tasks.js';
import { shortLag, type Lag } from './base/lag.js';
import { atomicWrite } from './base/atomic-write.js';
import { claimsFor } from './claims.js';
import { journal } from './journal/journal.js';
import { whereIs } from './journal/locate.js';
import { recovery } from './journal/recovery.js';
import { folders, layout as layoutOf } from './base/layout.js';
import { locks } from './locks.js';
import { openTasks } from './open-tasks.js';
import { presence } from './base/presence.js';
import { executor } from './place/operation.js';
import { placer } from './place/placer.js';
import { quarantine } from './quarantine.js';
import { blobs } from './records/blobs.js';
import { effects } from './records/effects.js';
import { events } from './records/events.js';
import { intents } from './records/intents.js';
import { sessionVerbs } from './sessions.js';
import { taskLookup } from './task-lookup.js';
import { taskVerbs } from './tasks.js';
import { ringing } from './ringing.js';
import { withDeadJournals } from './journal/with-dead-journals.js';

interface FilesOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  ids: Ids;
  processes: Processes;
  /** Agents this peer hosts; empty: all. */
  agents?: string[];
  /** The peer ids that this process had before it gave up their store. */
  abandoned?: ReadonlySet<string>;
  /**
   * For a reader: shows the unfinished writes of dead processes as if they were done, without
   * replaying anything.
   */
  isReader?: boolean;
  /** When files that may be written later are written; tests and recordings fix it. */
  lag?: Lag;
  /** Lines of the event log are written at once instead of a moment later. */
  eventsAtOnce?: boolean;
}

export function files(options: FilesOptions): Store {
  const { root, clock, processes, isReader = false } = options;
  const disk = isReader ? withDeadJournals(options.disk, layoutOf(root), processes) : options.disk;
  const parts = openParts({ ...options, disk });
  const { layout, peer, here, write, open, log, place, lookup, verbs, eventLog, sessions, dead } = parts;
  const { claimed, ...sessionPort } = sessions;
  const { fold: foldEffects, ...effectPort } = parts.effectRecords;
  const { flush: flushIntents, ...intentPort } = intents({
    disk,
    layout,
    write,
    journal: log,
    now: () => clock.now(),
    isJoined: here.isJoined,
  });

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

  const tasks: Tasks = {
    ...verbs,
    async scan(full) {
      here.refresh();
      here.rejoin();
      const problems = await dead.replay(full === true);
      const scanned = await verbs.scan(full);
      return {
        ...scanned,
        problems: [...parts.swept.splice(0), ...problems, ...scanned.problems],
        strays: open.strays(),
      };
    },
    async ended(filter) {
      await dead.replay(true); // a dead process may have ended children of a task that is retried
      return verbs.ended(filter);
    },
    // A task whose file cannot be read is still open: others wait for it, and it is not created
    // again.
    isOpen: (id) => verbs.isOpen(id) || open.unreadable(id) !== undefined,
    unreadable: (id) => open.unreadable(id),
    create: async (task, how) => open.unreadable(task.id) === undefined && verbs.create(task, how),
    async claim(id, agent) {
      here.join();
      // Under load this process takes less new work rather than fall further behind.
      const behind = place.catchUp();
      if (behind !== undefined) await behind;
      const claim = verbs.claim(id, agent);
      if (claim) claimed(log.line());
      return claim;
    },
    claimsFor: async (agent) => {
      await place.flush();
      return claimsFor({ disk, layout, tasks: open, lookup, isAlive: here.isAlive }, agent);
    },
    async takeOver(id) {
      here.join();
      await dead.replay(true);
      const owner = open.byId.get(id)?.owner?.peer ?? '';
      const claim = dead.hasJournal(owner) ? undefined : verbs.takeOver(id);
      if (claim === undefined) return undefined;
      claimed(log.line());
      const unseen = dead.unseen(owner);
      return unseen > 0 ? { ...claim, unseen } : claim;
    },
    async reopen(id, task) {
      await dead.replay(true); // an old unfinished end must not end the next attempt
      return verbs.reopen(id, task);
    },
    /** Only the header of a journal says who is dead, so a journal that stays holds its tasks. */
    async orphans() {
      const all = await verbs.orphans();
      if (all.length > 0) parts.swept.push(...(await dead.replay(true)));
      return all.filter((id) => !dead.hasJournal(open.byId.get(id)?.owner?.peer ?? ''));
    },
    changedSince: (version) => open.changedSince(version),
  };

  return {
    tasks,
    sessions: sessionPort,
    locks: locks(disk, layout, peer.id, (id) => verbs.isOpen(id) || verbs.isOpenOnDisk(id), startedIn),
    effects: effectPort,
    blobs: blobs(disk, layout, write),
    intents: intentPort,
    events: eventLog,
    views: { write: (file, text) => write.show(path.join(root, file), text) },
    presence: {
      peer,
      join: async () => here.join(),
      peers: async () => here.peers(),
      version: () => here.stamp(),
      ...ringing({ disk, layout, presence: here, adoptDead: dead.notice, touched: open.doubt }),
      async sweep() {
        here.refresh();
        dead.work();
        parts.swept.push(...(await dead.replay(true)));
        verbs.sweep();
        here.sweep();
        await foldEffects();
      },
    },
    async flush({ visible = true } = {}) {
      await (visible ? placeAll() : log.durable());
      await flushIntents();
    },
    stats: () => ({ worstLagMs: place.worstLagMs() }),
    async close() {
      // On failure the journal stays, and the next process makes the files from it.
      const isComplete = await placeAll().then(
        () => true,
        () => false,
      );
      await flushIntents();
      await log.close(isComplete).catch(() => undefined);
      here.leave();
      disk.close();
    },
  };

  async function placeAll(): Promise<void> {
    await place.flush();
    if (here.isJoined()) await log.durable();
  }
}

/** The modules that the ports share, in order of construction. */
function openParts(options: FilesOptions) {
  const { root, disk, clock, ids, processes, agents = [], lag = shortLag } = options;
  const { abandoned = new Set(), eventsAtOnce = false } = options;
  const layout = layoutOf(root);
  for (const folder of folders(layout))
    disk.makeFolder(folder, folder.startsWith(path.join(root, '.guild')) ? 0o700 : undefined);
  const now = (): Date => clock.now();
  const peer = { id: ids.next(), ...processes.me(), agents, since: now().toISOString() };
  const here = presence(disk, layout, processes, peer);
  const write = atomicWrite(disk, layout, peer.id, () => here.join());
  const moveToQuarantine = quarantine(disk, layout);
  const open = openTasks(disk, layout, moveToQuarantine, now);
  const swept: Problem[] = [];
  const log = journal({
    disk,
    folder: layout.journal,
    peer: peer.id,
    owner: processes.me(),
    whereIs: (key) => whereIs(disk, layout, key),
    spare: path.join(layout.tmp, `${peer.id}-journal`),
    beforeFirst: () => here.join(),
    monotonicMs: () => clock.monotonicMs(),
  });
  const execute = executor(disk, layout.tmp, `${peer.id}-p`);
  const isJoined = here.isJoined;
  const tmp = path.join(layout.tmp, `${peer.id}-events`);
  const place = placer({ journal: log, execute, monotonicMs: () => clock.monotonicMs(), lag });
  const eventLog = events({ disk, layout, journal: log, placer: place, isJoined, isAtOnce: eventsAtOnce, tmp });
  const lookup = taskLookup(disk, layout, now, here.isAlone);
  const shared = { disk, layout, write, presence: here, journal: log, placer: place };
  const verbs = taskVerbs({ ...shared, tasks: open, lookup, quarantine: moveToQuarantine });
  const sessions = sessionVerbs({ ...shared, isJoined });
  const effectRecords = effects({ ...shared, execute, now, isJoined, me: peer.id, isAlive: here.isAlive });
  const dead = recovery({ disk, layout, processes, presence: here, clock, abandoned });
  return {
    layout,
    peer,
    here,
    write,
    open,
    log,
    place,
    lookup,
    verbs,
    eventLog,
    sessions,
    effectRecords,
    dead,
    swept,
  };
}

export { isWorkspace } from './base/layout.js';
export { journalAdoption, type HeldJournal } from './journal/adopt.js';
