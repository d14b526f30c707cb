/** The default store: plain files in a folder that people can read and edit. */
import path from 'node:path';
import type { Task } from '../../domain/task/task.js';
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
import { recovery } from './journal/recovery.js';
import { folders, layout as layoutOf } from './base/layout.js';
import { locks } from './locks.js';
import { openTasks } from './open-tasks.js';
import { presence } from './presence.js';
import { executor } from './place/operation.js';
import { placer, type ExecuteAll } from './place/placer.js';
import { quarantine } from './quarantine.js';
import { blobs } from './records/blobs.js';
import { effects } from './records/effects.js';
import { events } from './records/events.js';
import { intents } from './records/intents.js';
import { sessionVerbs } from './sessions.js';
import { taskLookup } from './task-lookup.js';
import { taskVerbs } from './tasks.js';
import { taskKey } from './journal/step.js';
import { ringing } from './ringing.js';
import { withDeadJournals } from './readers/with-dead-journals.js';

interface FilesOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  ids: Ids;
  processes: Processes;
  /** Agents this peer hosts; empty: all. */
  agents?: string[];
  /** It only looks: what dead processes owed appears to be there, and nothing is replayed. */
  isReader?: boolean;
  /** When files that may follow are written; tests and recordings fix it. */
  lag?: Lag;
  /** Places files in another thread; absent: in this one. */
  placeElsewhere?: (tmpFolder: string, prefix: string) => ExecuteAll & { close(): Promise<void> };
}

/** While files are further behind than this, no new task is claimed. */
const MAX_LAG_MS = 500;

export function files(options: FilesOptions): Store {
  const { root, clock, processes, isReader = false } = options;
  const disk = isReader ? withDeadJournals(options.disk, layoutOf(root), processes) : options.disk;
  const parts = openParts({ ...options, disk });
  const { layout, peer, here, write, open, log, place, lookup, verbs, eventLog, sessions, dead } = parts;
  const { claimed, flush: flushSessions, ...sessionPort } = sessions;
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

  /** The first append to a conversation waits until the claim under which it is made is durable. */
  const noteClaim = (task: Task): void => {
    if (task.session !== undefined) claimed(task.session, log.write());
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
      if (place.lagMs() > MAX_LAG_MS || place.isInFlight(taskKey(id))) await place.flush();
      const claim = verbs.claim(id, agent);
      if (claim) noteClaim(claim.task);
      return claim;
    },
    claimsFor: async (agent) => {
      await place.flush();
      return claimsFor({ disk, layout, tasks: open, lookup, isAlive: here.isAlive }, agent);
    },
    async takeOver(id) {
      here.join();
      await dead.replay(true);
      const claim = verbs.takeOver(id);
      if (claim) noteClaim(claim.task);
      return claim;
    },
    async orphans() {
      const held = dead.held();
      const all = await verbs.orphans();
      return held.size === 0 ? all : all.filter((id) => !held.has(open.byId.get(id)?.owner?.peer ?? ''));
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
      await parts.closePlacing();
      here.leave();
      disk.close();
    },
  };

  async function placeAll(): Promise<void> {
    await flushSessions();
    await place.flush();
    eventLog.place();
    if (here.isJoined()) await log.durable();
  }
}

/** The modules that the ports share, in order of construction. */
function openParts({ root, disk, clock, ids, processes, agents = [], lag = shortLag, placeElsewhere }: FilesOptions) {
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
    beforeFirst: () => here.join(),
    onFailure: () => undefined,
  });
  const inline = executor(disk, layout.tmp, `${peer.id}-p`);
  const elsewhere = placeElsewhere?.(layout.tmp, `${peer.id}-w`);
  const execute: ExecuteAll = elsewhere ?? ((operations) => operations.map(inline));
  const isJoined = here.isJoined;
  const eventLog = events({ disk, layout, journal: log, isJoined, lag });
  const place = placer({
    journal: log,
    execute,
    monotonicMs: () => clock.monotonicMs(),
    lag,
    afterBatch: eventLog.place,
    onFailure: () => undefined,
  });
  const lookup = taskLookup(disk, layout, now);
  const verbs = taskVerbs({
    disk,
    layout,
    write,
    tasks: open,
    lookup,
    presence: here,
    quarantine: moveToQuarantine,
    journal: log,
    placer: place,
  });
  const sessions = sessionVerbs({ disk, layout, write, journal: log, execute, isJoined });
  const effectRecords = effects({ disk, layout, write, journal: log, now, presence: here });
  const dead = recovery({ disk, layout, processes, presence: here, clock });
  const closePlacing = async (): Promise<void> => elsewhere?.close();
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
    closePlacing,
  };
}

export { isWorkspace } from './base/layout.js';
export { journalAdoption, type HeldJournal } from './journal/adopt.js';
