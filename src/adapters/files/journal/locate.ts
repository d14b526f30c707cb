/** Where a task's file is, whatever its state and even if its content is torn. */
import path from 'node:path';
import { defined } from '../../../domain/defined.js';
import { TASK_STATES, type TaskState } from '../../../domain/task/task.js';
import type { Disk } from '../../../ports/disk.js';
import { parseClaimName, type Layout } from '../base/layout.js';
import { lookThoroughly } from '../base/look-thoroughly.js';
import { claimOf } from '../base/where-now.js';
import { taskKey } from './step.js';

export interface Located {
  file: string;
  state: TaskState;
  bytes: Buffer;
  /** The peer in the name of a claim. */
  owner?: string;
}

/** Ended states first: an ended task stays ended. `claim`: the file of its claim, if any. */
export function locate(disk: Disk, layout: Layout, id: string, claim: string | undefined): Located | undefined {
  for (const state of [...TASK_STATES].reverse()) {
    const file = state === 'active' ? claim : layout.task(state, id);
    const read = file === undefined ? undefined : disk.read(file);
    if (read?.kind !== 'file') continue;
    const owner = state === 'active' ? parseClaimName(path.basename(file!))?.peer : undefined;
    return defined({ file: file!, state, bytes: read.bytes, owner });
  }
  return undefined;
}

/** Like `locate`, with the task's current claim. Live processes may move the file meanwhile. */
export function locateNow(disk: Disk, layout: Layout, id: string): Located | undefined {
  return lookThoroughly(
    () => locate(disk, layout, id, claimOf(disk, layout, id)),
    () => false,
  );
}

/** The file of a task that another process or a person has moved, by its key in the journal. */
export function whereIs(disk: Disk, layout: Layout, key: string): string | undefined {
  if (!key.startsWith(taskKey(''))) return undefined;
  return locateNow(disk, layout, key.slice(taskKey('').length))?.file;
}
