/** The problem of a command that is run outside a workspace. */
import { isWorkspace } from '../../adapters/files/base/layout.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';

export function requireWorkspace(disk: Disk, root: string): void {
  if (!isWorkspace(disk, root)) throw new ProblemError(noWorkspace(root, disk.stamp(root) !== undefined));
}

export function noWorkspace(root: string, exists: boolean): Problem {
  const what = exists ? 'is not a workspace: it has neither guild.yaml nor tasks/' : 'does not exist';
  return problem('not_found', `${root} ${what}`, { hint: 'make one with `guild init`, or name one with --workspace' });
}
