/** The files of ended tasks: their names, their times of change and their content. */
import fs from 'node:fs';
import path from 'node:path';
import { problem, type Problem } from '../../domain/problem.js';
import type { EndedState, Placed } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import type { EndedFile } from '../../ports/aggregates/task-index.js';
import { parseTask } from '../../text/records/task.js';

export const STATES = ['completed', 'failed'] as const satisfies EndedState[];

/** Inode, size, and the times of the last write and of the last change, in milliseconds. */
export type Stamp = readonly [inode: number, bytes: number, writtenMs: number, changedMs: number];

interface EndedFolder {
  state: EndedState;
  names: string[];
}

/** The names of both folders, or of one. */
export function listEnded(root: string, disk: Disk, only?: EndedState): EndedFolder[] {
  return STATES.filter((state) => only === undefined || state === only).map((state) => {
    const names = disk.list(path.join(root, 'tasks', state));
    return { state, names: names.filter((name) => name.endsWith('.json') && !name.startsWith('.')) };
  });
}

/** A function, because joining the path again for each of many files takes as long as the call. */
export function stampsIn(root: string, state: EndedState): (name: string) => Stamp | undefined {
  const prefix = path.join(root, 'tasks', state) + path.sep;
  return (name) => stampOf(prefix + name);
}

const STAT = { throwIfNoEntry: false } as const;

export function stampOf(file: string): Stamp | undefined {
  const stat = fs.lstatSync(file, STAT);
  return stat && [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs];
}

/**
 * Two changes within one tick of the kernel's clock leave the same stamp, so a recent stamp is not
 * trusted. A time in the future counts as recent.
 */
export function isSettled([, , , changedMs]: Stamp, nowMs: number): boolean {
  return nowMs - changedMs > YOUNG_MS;
}

const YOUNG_MS = 50;

/** Undefined if it is gone. `now` is the `created_at` of a record that has none. */
export function readEnded(
  root: string,
  disk: Disk,
  { file, state }: EndedFile,
  now: string,
): Placed | Problem | undefined {
  try {
    const read = disk.read(path.join(root, file));
    if (read.kind === 'missing') return undefined;
    if (read.kind !== 'file') return unreadable(file);
    const parsed = parseTask(read.bytes, { file, name: path.basename(file, '.json'), now });
    return parsed.kind === 'task' ? { task: parsed.task, state } : { ...parsed.problem, hint: HINT };
  } catch {
    return unreadable(file); // no permission, or the device fails
  }
}

const HINT = 'it counts as ended and is not shown: fix it, or move it out of tasks/';

function unreadable(file: string): Problem {
  return problem('bad_file', `${file} cannot be read`, { where: { file }, hint: HINT });
}
