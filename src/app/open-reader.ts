/** A workspace opened only to be looked at: the store without engine, agents or models. */
import path from 'node:path';
import { clock, ids } from '../adapters/clock.js';
import { disk } from '../adapters/disk.js';
import { files, isWorkspace } from '../adapters/files/index.js';
import { processes } from '../adapters/processes.js';
import { ProblemError } from '../domain/problem.js';
import type { Store } from '../ports/store.js';
import { noWorkspace } from './no-workspace.js';

export function openReader(folder: string): Store {
  const root = path.resolve(folder);
  const on = disk();
  if (!isWorkspace(on, root)) throw new ProblemError(noWorkspace(root, on.stamp(root) !== undefined));
  return files({ root, disk: on, clock: clock(), ids: ids(), processes: processes() });
}

export { noWorkspace };
