/** Opens a workspace only to read its tasks; see `adapters/files/readers/look`. */
import path from 'node:path';
import { clock } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { isWorkspace } from '../../adapters/files/base/layout.js';
import { look, type Look } from '../../adapters/files/readers/look.js';
import { processes } from '../../adapters/processes/index.js';
import { ProblemError } from '../../domain/problem.js';
import { noWorkspace } from './no-workspace.js';

/** `leaves`: files that can never be valid are reported and not quarantined. */
export function openLook(folder: string, { leaves = false } = {}): Look {
  const root = path.resolve(folder);
  const disk = realDisk();
  if (!isWorkspace(disk, root)) throw new ProblemError(noWorkspace(root, disk.stamp(root) !== undefined));
  return look({ root, disk, clock: clock(), processes: processes(), leaves });
}
