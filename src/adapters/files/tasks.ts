/**
 * Tasks as files. The folder is the state. A claim is a rename into `active` under a name that
 * contains the owner; an end is an exclusive link into `completed` or `failed`. A crash between any
 * two steps leaves the state before, the state after, or a leftover that `sweep` recognises.
 */
import { isEnded as isEndedState, type Task } from '../../domain/task/task.js';
import { sameContent } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { Claim, OpenTask, Tasks } from '../../ports/store/tasks.js';
import { printTask } from '../../text/records/task.js';
import path from 'node:path';
import { once, type Ahead } from './ahead.js';
import { placing, twin } from './placing.js';
import { ending, isAcknowledged } from './ending.js';
import { sweepClaims } from './claims.js';
import type { Journal } from './journal.js';
import { agentInClaim, type ClaimName, type Layout } from './base/layout.js';
import type { Entry } from './open-index.js';
import type { OpenTasks } from './open-tasks.js';
import type { Presence } from './presence.js';
import type { Quarantine } from './quarantine.js';
import { taskReader } from './read-tasks.js';
import type { TaskLookup } from './task-lookup.js';
import type { AtomicWrite } from './base/atomic-write.js';

type TaskVerbs = Pick<
  Tasks,
  | 'create'
  | 'scan'
  | 'open'
  | 'openCount'
  | 'version'
  | 'isOpen'
  | 'getOpen'
  | 'openUnderRoot'
  | 'read'
  | 'readChild'
  | 'ended'
  | 'orphans'
  | 'release'
  | 'park'
  | 'settle'
  | 'reopen'
>;

interface Dependencies {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  tasks: OpenTasks;
  lookup: TaskLookup;
  presence: Presence;
  quarantine: Quarantine;
  ahead: Ahead;
  journal: Pick<Journal, 'arrived' | 'settle' | 'keep'>;
}

/** Synchronous within the adapter, so that nothing runs between a claim and its bookkeeping. */
interface SyncTaskVerbs {
  claim(id: string, agent: string): Claim | undefined;
  takeOver(id: string): Claim | undefined;
  sweep(): void;
  /** Asks the disk: another process may have created or moved the task since the last scan. */
  isOpenOnDisk(id: string): boolean;
}

const NOTHING = { problems: [], gone: [] };

export function taskVerbs(dependencies: Dependencies): TaskVerbs & SyncTaskVerbs {
  const { disk, layout, write, tasks, lookup, presence, quarantine, ahead, journal } = dependencies;
  const me = presence.peer.id;
  let isScanned = false;
  /** Results of scans made along the way; the next requested scan reports them. */
  let unreported: ReturnType<OpenTasks['scan']> = NOTHING;
  const inCreationOrder = inOrder<string>();
  const inSyncOrder = inOrder<void>();
  const onItsWay = placing({ disk, layout, tasks, lookup, quarantine, ahead, me });
  const { forget } = onItsWay;
  const { settle, settleBehind, syncSession } = ending({ disk, layout, write, ahead, journal, lookup, onItsWay, me });
  /**
   * Claims on tasks that only this process can have seen: no other process has created children.
   */
  const unshared = new WeakSet<Claim>();
  const ensureScanned = (): void => {
    if (!isScanned) unreported = scan(false);
  };
  const reader = taskReader({ disk, layout, tasks, lookup, onItsWay, shown, ensureScanned });

  return {
    async create(task, { durable = true } = {}) {
      const file = layout.task('pending', task.id);
      if (!durable) {
        // a person may be writing that file
        if (isKnown(task.id) || disk.stamp(file) !== undefined) return false;
        tasks.add({ id: task.id, state: 'pending', file, stamp: '', task });
        onItsWay.send(
          {
            id: task.id,
            parent: task.parent,
            root: task.root,
            from: undefined,
            write: once(() => write.writeTemp(printTask(task))),
          },
          file,
        );
        return true;
      }
      if (existsAnywhere(task.id)) return false;
      const temp = await inCreationOrder(write.writeTemp(printTask(task)));
      // Checked again right before the link: another process may have created and moved it
      // meanwhile.
      const created = !existsAnywhere(task.id) && disk.link(temp, file);
      disk.remove(temp);
      if (!created) return false;
      await inSyncOrder(isAcknowledged(task) ? disk.syncFolder(path.dirname(file)) : Promise.resolve());
      tasks.add({ id: task.id, state: 'pending', file, stamp: disk.stamp(file) ?? '', task });
      return true;
    },
    scan: async (full = false) => scan(full),
    *open() {
      for (const entry of tasks.byId.values()) yield shown(entry);
    },
    openCount: () => tasks.byId.size,
    version: () => tasks.changes,
    isOpen: (id) => tasks.byId.has(id),
    getOpen(id) {
      const entry = tasks.byId.get(id);
      return entry && shown(entry);
    },
    openUnderRoot: (root) => tasks.ofRoot.get(root) ?? 0,
    async read(id) {
      return reader.any(id);
    },
    async readChild(id, parent) {
      const entry = tasks.byId.get(id);
      if (entry !== undefined && (isMine(entry) || onItsWay.get(id) !== undefined)) return shown(entry);
      if (onItsWay.get(id)?.end !== undefined) return onItsWay.get(id)!.end;
      if (entry === undefined && unshared.has(parent)) return reader.ended(id);
      const placed = reader.any(id);
      // The last scan missed it because it was being moved. Scan again, so that later reads find
      // it.
      if (entry === undefined && placed !== undefined && !isEndedState(placed.state)) unreported = scan(false);
      return placed;
    },
    async ended(options = {}) {
      await onItsWay.caughtUp();
      return lookup.ended(options);
    },
    claim(id, agent) {
      const entry = tasks.byId.get(id);
      if (entry === undefined || entry.state === 'active') return undefined;
      return take(entry, agent, false);
    },
    takeOver(id) {
      const entry = tasks.byId.get(id);
      if (entry?.state !== 'active' || isHeld(entry)) return undefined;
      return take(entry, entry.task.to ?? entry.owner?.agent ?? 'nobody', true);
    },
    async orphans() {
      const ids: string[] = [];
      for (const entry of tasks.byId.values()) if (entry.state === 'active' && !isHeld(entry)) ids.push(entry.id);
      return ids;
    },
    release: (claim, task) => putBack(claim, task, 'pending'),
    park: (claim, task, { durable = true } = {}) =>
      durable ? putBack(claim, task, 'waiting') : parkBehind(claim, task),
    settle: (claim, task, state, { durable = true } = {}) => (durable ? settle : settleBehind)(claim, task, state),
    async reopen(id, task) {
      // Leftovers of this end would have the same names as those of the next end.
      await Promise.all([onItsWay.caughtUp(), disk.removed?.()]);
      await journal.settle();
      for (const state of ['failed', 'completed'] as const) {
        const file = layout.task(state, id);
        if (disk.stamp(file) === undefined) continue;
        await write.replace(file, printTask(task));
        const target = layout.task('pending', id);
        if (!disk.rename(file, target)) return false;
        await Promise.all([disk.syncFolder(layout.tasks('pending')), disk.syncFolder(layout.tasks(state))]);
        tasks.load('pending', target);
        return true;
      }
      return false;
    },
    sweep: () => sweepClaims(disk, layout, lookup, presence.isAlive),
    isOpenOnDisk: (id) => !isEnded(id) && existsAnywhere(id),
  };

  function scan(full: boolean): ReturnType<OpenTasks['scan']> {
    isScanned = true;
    const { problems, gone } = tasks.scan(full, (id) => onItsWay.get(id) !== undefined);
    const all = { problems: [...unreported.problems, ...problems], gone: [...unreported.gone, ...gone] };
    unreported = NOTHING;
    return all;
  }

  function isHeld(entry: Entry): boolean {
    return entry.owner !== undefined && presence.isAlive(entry.owner.peer);
  }

  function shown(entry: Entry): OpenTask {
    const held = entry.state === 'active' && isHeld(entry);
    const owner = entry.owner && { agent: entry.task.to ?? entry.owner.agent, peer: entry.owner.peer };
    return { task: tasks.withWaits(entry), state: entry.state, held, ...(owner ? { owner } : {}) };
  }

  /** The rename is the claim. The cached task is used only if the content has not changed since. */
  function take(entry: Entry, agent: string, recovered: boolean): Claim | undefined {
    const from = entry.state;
    const file = layout.claimed(entry.id, agent, me);
    tasks.remove(entry);
    const placement = onItsWay.get(entry.id);
    if (placement !== undefined) {
      // No other process can see it: on the disk it has no name yet, or is still under our claim.
      onItsWay.redirect(placement, file, false);
      tasks.add({ ...entry, state: 'active', file, owner: ownName(entry.id, agent) });
      const claim: Claim = { id: entry.id, agent, task: entry.task, from, recovered };
      unshared.add(claim);
      return claim;
    }
    if (!disk.rename(entry.file, file)) return undefined;
    if (isEnded(entry.id)) {
      disk.remove(file);
      return undefined;
    }
    const stamp = disk.stamp(file);
    if (stamp === undefined) return undefined;
    let mine: Entry = { ...entry, state: 'active', file, stamp, owner: ownName(entry.id, agent) };
    if (!sameContent(stamp, entry.stamp)) {
      const loaded = tasks.load('active', file);
      if (loaded === undefined || 'code' in loaded) {
        disk.rename(file, entry.file); // a person is editing it: put it back where they expect it
        return undefined;
      }
      mine = loaded;
    } else {
      tasks.add(mine);
    }
    return { id: entry.id, agent, task: mine.task, from, recovered };
  }

  function ownName(id: string, agent: string): ClaimName {
    return { id, agent: agentInClaim(agent), peer: me, leaving: false };
  }

  /** Parks the task in memory; its file follows through the write-behind queue. */
  async function parkBehind(claim: Claim, task: Task): Promise<boolean> {
    const held = layout.claimed(claim.id, claim.agent, me);
    const to = layout.task('waiting', claim.id);
    const before = tasks.byId.get(claim.id);
    const placement = onItsWay.get(claim.id);
    forget(claim.id);
    if (placement === undefined && disk.stamp(held) === undefined) return false;
    tasks.add({ id: claim.id, state: 'waiting', file: to, stamp: before?.stamp ?? '', task });
    if (placement !== undefined) onItsWay.redirect(placement, to, true);
    else onItsWay.send({ id: claim.id, parent: task.parent, root: task.root, from: held, rests: true }, to);
    return true;
  }

  async function putBack(claim: Claim, task: Task, state: 'pending' | 'waiting'): Promise<boolean> {
    const held = layout.claimed(claim.id, claim.agent, me);
    // Its children must have names first: the next process that claims it creates missing ones.
    const [tmp] = await Promise.all([write.writeTemp(printTask(task)), syncSession(task), onItsWay.named(claim.id)]);
    if (disk.stamp(held) === undefined) {
      disk.remove(tmp);
      forget(claim.id);
      return false;
    }
    const target = layout.task(state, claim.id);
    if (disk.stamp(target) !== undefined) quarantine(target, twin(layout, claim.id, target));
    disk.rename(tmp, held);
    disk.rename(held, target);
    forget(claim.id);
    tasks.add({ id: claim.id, state, file: target, stamp: disk.stamp(target) ?? '', task });
    // A power cut can only lose the move; the task is then an orphan of a dead claim.
    return true;
  }

  function isEnded(id: string): boolean {
    return onItsWay.get(id)?.end !== undefined || lookup.hasEnded(id);
  }

  function isKnown(id: string): boolean {
    return tasks.byId.has(id) || onItsWay.get(id) !== undefined;
  }

  function existsAnywhere(id: string): boolean {
    return isKnown(id) || lookup.has(id);
  }

  function isMine({ state, owner }: Entry): boolean {
    return state === 'active' && owner?.peer === me;
  }
}

/** Resolves promises in the order in which they were passed, whichever completes first. */
function inOrder<T>(): (work: Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = Promise.all([work, last]).then(([value]) => value);
    last = mine.catch(() => undefined);
    return mine;
  };
}
