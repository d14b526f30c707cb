/** Opens a workspace only to read its tasks; see `adapters/files/readers/look`. */
import path from 'node:path';
import { clock } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { look, type Look } from '../../adapters/files/readers/look.js';
import { processes } from '../../adapters/processes/index.js';
import { linkedState } from '../../adapters/trust/rights.js';
import { ProblemError, type Problem } from '../../domain/problem.js';
import type { Tasks } from '../../ports/store/tasks.js';
import { mayBeShared } from '../far/may-be-shared.js';
import { requireWorkspace } from './no-workspace.js';

/** `leaves`: files that can never be valid are reported and not quarantined. */
export function openLook(folder: string, { leaves = false } = {}): Look {
  const root = path.resolve(folder);
  const disk = realDisk();
  requireWorkspace(disk, root);
  const linked = leaves ? undefined : linkedState(root);
  if (linked !== undefined) throw new ProblemError(linked);
  return look({ root, disk, clock: clock(), processes: processes(), leaves });
}

/** A look at any store, with its open tasks loaded. `ended` is absent if there is an index. */
export async function lookAt(folder: string, limit: number): Promise<Glance> {
  const near = openLook(folder);
  const root = path.resolve(folder);
  const disk = realDisk();
  const shared = mayBeShared(disk, root) ? (await import('./open-reader.js')).openFarReader(disk, root) : undefined;
  if (shared === undefined) return { ...near.glance(limit), strays: near.strays(), open: near.open };
  await shared.tasks.scan();
  return { problems: [], unread: 0, strays: [], open: shared.tasks.open, ended: shared.tasks.ended };
}

interface Glance extends Pick<Look, 'open'>, ReturnType<Look['glance']> {
  strays: Problem[];
  ended?: Tasks['ended'];
}
