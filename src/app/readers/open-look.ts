/** A workspace opened only to look at its tasks; see `adapters/files/look`. */
import path from 'node:path';
import { clock } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import { isWorkspace } from '../../adapters/files/base/layout.js';
import { look, type Look } from '../../adapters/files/readers/look.js';
import { processes } from '../../adapters/processes/index.js';
import { ProblemError } from '../../domain/problem.js';
import { noWorkspace } from './no-workspace.js';

/** `leaves`: not even what can never be read is set aside. */
export function openLook(folder: string, { leaves = false } = {}): Look {
  const root = path.resolve(folder);
  const on = disk();
  if (!isWorkspace(on, root)) throw new ProblemError(noWorkspace(root, on.stamp(root) !== undefined));
  return look({ root, disk: on, clock: clock(), processes: processes(), leaves });
}
