/**
 * Moves a file that can never be valid to `quarantine/`, bytes unchanged, with a note that says why
 * and what to do.
 */
import path from 'node:path';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { problem, problemText, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './base/layout.js';

/**
 * Returns the problem to report, with the file's new place; undefined if another peer moved it
 * first. A problem without a new place means that the system refused the move.
 */
export type Quarantine = (file: string, why: Problem) => Problem | undefined;

export function quarantine(disk: Disk, layout: Layout): Quarantine {
  return (file, why) => {
    const target = fenced(file, () => {
      disk.makeFolder(layout.quarantine);
      const free = freeName(disk, layout.quarantine, path.basename(file));
      return disk.rename(file, free) ? free : undefined;
    });
    if (target === undefined) return undefined;
    if (isUnreadable(target)) return why;
    const shown = path.relative(layout.root, target);
    const hint = why.hint ?? 'fix it and move it back, or delete it';
    fenced(target, () => disk.create(`${target}.why.md`, `${problemText({ ...why, hint })}\n`));
    return problem(why.code, `${why.message}; it was moved to ${shown}`, {
      where: why.where,
      hint,
      movedTo: shown,
    });
  };
}

function freeName(disk: Disk, folder: string, name: string): string {
  for (let n = 0; ; n++) {
    const target = path.join(folder, n === 0 ? name : `${name}.${n}`);
    if (disk.stamp(target) === undefined) return target;
  }
}
