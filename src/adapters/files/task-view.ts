/** Tasks as this process sees them: from memory where that is newer, otherwise from the disk. */
import path from 'node:path';
import { defined } from '../../domain/defined.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { isEnded, type OpenState, type Placed, type Task } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import type { OpenTask, Tasks } from '../../ports/store/tasks.js';
import { parseClaimName, type Layout } from './base/layout.js';
import { lookThoroughly } from './base/look-thoroughly.js';
import { claimOf } from './base/where-now.js';
import type { Presence } from './base/presence.js';
import type { Entry } from './open-index.js';
import type { OpenTasks } from './open-tasks.js';
import type { Item } from './place/placer.js';
import type { TaskLookup } from './task-lookup.js';

/** A queued write of a task's file. */
export interface TaskItem extends Item {
  /** The task as it ended, if it has. */
  end?: Placed;
}

export interface TaskView extends Pick<
  Tasks,
  'scan' | 'open' | 'openCount' | 'version' | 'isOpen' | 'getOpen' | 'openUnderRoot' | 'read' | 'readChild' | 'orphans'
> {
  isHeld(entry: Entry): boolean;
  /** This process claimed the task before any other has seen it, so only it creates children. */
  isUnshared(id: string): void;
  /** This process creates the task. */
  hasCreated(task: Task): void;
  /** Another process may see the task from now on, or it has ended. */
  isShared(id: string): void;
}

interface Dependencies {
  disk: Disk;
  layout: Layout;
  tasks: OpenTasks;
  lookup: TaskLookup;
  presence: Presence;
  /** The file of a task that waits for its name. */
  queued: (id: string) => TaskItem | undefined;
}

const NOTHING = { problems: [], gone: [] };

export function taskView({ disk, layout, tasks, lookup, presence, queued }: Dependencies): TaskView {
  let isScanned = false;
  /** Results of scans made along the way; the next requested scan reports them. */
  let unreported: ReturnType<OpenTasks['scan']> = NOTHING;
  /** The children of tasks that no other process has seen. */
  const unshared = new Map<string, Set<string>>();

  return {
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
    read: async (id) => readAny(id),
    async readChild(id, parent) {
      const entry = tasks.byId.get(id);
      if (entry !== undefined && (isMine(entry) || queued(id) !== undefined)) return shown(entry);
      if (queued(id)?.end !== undefined) return queued(id)!.end;
      const siblings = unshared.get(parent.id);
      if (entry === undefined && siblings !== undefined) return siblings.has(id) ? readEnded(id) : undefined;
      const placed = readAny(id);
      // The last scan missed it because it was being moved. Scan again, so that later reads find
      // it.
      if (entry === undefined && placed !== undefined && !isEnded(placed.state)) unreported = scan(false);
      return placed;
    },
    async orphans() {
      const ids: string[] = [];
      for (const entry of tasks.claimed()) if (!isHeld(entry)) ids.push(entry.id);
      return ids;
    },
    isHeld,
    isUnshared(id) {
      if (!unshared.has(id)) unshared.set(id, new Set());
    },
    hasCreated: ({ id, parent = '' }) => void unshared.get(parent)?.add(id),
    isShared: (id) => void unshared.delete(id),
  };

  function scan(full: boolean): ReturnType<OpenTasks['scan']> {
    isScanned = true;
    const { problems, gone } = tasks.scan(full, (id) => queued(id) !== undefined);
    const all = { problems: [...unreported.problems, ...problems], gone: [...unreported.gone, ...gone] };
    unreported = NOTHING;
    return all;
  }

  function isHeld({ owner }: Entry): boolean {
    return owner !== undefined && presence.isAlive(owner.peer);
  }

  function isMine({ state, owner }: Entry): boolean {
    return state === 'active' && owner?.peer === presence.peer.id;
  }

  function shown(entry: Entry): OpenTask {
    const { state, owner } = entry;
    const task = tasks.withWaits(entry);
    // Called for each open task in every pass.
    if (owner === undefined) return { task, state, held: false };
    const held = state === 'active' && isHeld(entry);
    return { task, state, held, owner: { agent: task.to ?? owner.agent, peer: owner.peer } };
  }

  function readAny(id: string): Placed | undefined {
    const placement = queued(id);
    const entry = placement && tasks.byId.get(id);
    if (placement?.end ?? entry) return placement?.end ?? shown(entry!);
    return lookThoroughly(
      () => readEnded(id) ?? readOpen('pending', id) ?? readOpen('waiting', id) ?? readActive(id),
      presence.isAlone,
    );
  }

  function readEnded(id: string): Placed | undefined {
    for (const state of ['completed', 'failed'] as const) {
      const task = lookup.read(layout.task(state, id), id);
      if (task !== undefined) return { task, state };
    }
    return undefined;
  }

  function readOpen(state: 'pending' | 'waiting', id: string): Placed | undefined {
    const task = lookup.read(layout.task(state, id), id);
    if (task === undefined) return undefined;
    // Its stages say what it waits for.
    if (state === 'waiting' && !isScanned) unreported = scan(false);
    return { task: tasks.withWaits({ state, task }), state };
  }

  function readActive(id: string): Placed | undefined {
    const entry = tasks.byId.get(id);
    const found = fenced('tasks/active', () => claimOf(disk, layout, id));
    const claim = isUnreadable(found) ? undefined : found;
    const file = claim ?? entry?.file;
    const task = file === undefined ? undefined : lookup.read(file, id);
    if (task === undefined) return undefined;
    const owner = claim && parseClaimName(path.basename(claim));
    const state: OpenState = claim === undefined ? (entry?.state ?? 'pending') : 'active';
    return defined({ task, state, owner: owner ? { agent: task.to ?? owner.agent, peer: owner.peer } : undefined });
  }
}
