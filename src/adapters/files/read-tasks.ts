/** Reads one task, whatever its state: from memory where that is newer, otherwise from the disk. */
import path from 'node:path';
import { fenced, isUnreadable } from '../../domain/fence.js';
import type { OpenState, Placed } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import { parseClaimName, type Layout } from './base/layout.js';
import type { Entry } from './open-index.js';
import type { OpenTasks } from './open-tasks.js';
import type { Item } from './place/placer.js';
import type { TaskLookup } from './task-lookup.js';

/** The file of a task on its way to its name. */
export interface TaskItem extends Item {
  /** The task as it ended, if it has. */
  end?: Placed;
}

interface TaskReader {
  ended(id: string): Placed | undefined;
  any(id: string): Placed | undefined;
}

interface Dependencies {
  disk: Disk;
  layout: Layout;
  tasks: OpenTasks;
  lookup: TaskLookup;
  /** The file of a task that waits for its name. */
  queued: (id: string) => TaskItem | undefined;
  shown: (entry: Entry) => Placed;
  /** Scans the folders, unless that was done before. */
  ensureScanned: () => void;
}

export function taskReader({ disk, layout, tasks, lookup, queued, shown, ensureScanned }: Dependencies): TaskReader {
  return { ended: readEnded, any: readAny };

  function readAny(id: string): Placed | undefined {
    const placement = queued(id);
    const entry = placement && tasks.byId.get(id);
    if (placement?.end ?? entry) return placement?.end ?? shown(entry!);
    // Another process may move the task while its folders are read in turn, so the first ones are
    // read again at the end.
    return (
      readEnded(id) ??
      readOpen('pending', id) ??
      readOpen('waiting', id) ??
      readActive(id) ??
      readOpen('waiting', id) ??
      readOpen('pending', id) ??
      readEnded(id)
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
    if (state === 'waiting') ensureScanned(); // its stages say what it waits for
    return { task: tasks.withWaits({ state, task }), state };
  }

  function readActive(id: string): Placed | undefined {
    const entry = tasks.byId.get(id);
    const names = fenced('tasks/active', () => disk.list(layout.tasks('active')));
    const name = isUnreadable(names) ? undefined : names.find((file) => parseClaimName(file)?.id === id);
    const file = name === undefined ? entry?.file : path.join(layout.tasks('active'), name);
    const task = file === undefined ? undefined : lookup.read(file, id);
    if (task === undefined) return undefined;
    const owner = name === undefined ? undefined : parseClaimName(name);
    const state: OpenState = name === undefined ? (entry?.state ?? 'pending') : 'active';
    return { task, state, ...(owner ? { owner: { agent: task.to ?? owner.agent, peer: owner.peer } } : {}) };
  }
}
