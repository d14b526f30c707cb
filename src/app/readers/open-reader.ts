/** Opens a workspace only to read it: the store without engine, agents or models. */
import path from 'node:path';
import { clock, ids } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { files, isWorkspace } from '../../adapters/files/index.js';
import { processes } from '../../adapters/processes/index.js';
import { ProblemError, type Problem } from '../../domain/problem.js';
import type { Store } from '../../ports/store/index.js';
import type { Scan } from '../../ports/store/tasks.js';
import { noWorkspace } from './no-workspace.js';

export function openReader(folder: string): Store {
  const root = path.resolve(folder);
  const disk = realDisk();
  if (!isWorkspace(disk, root)) throw new ProblemError(noWorkspace(root, disk.stamp(root) !== undefined));
  const store = files({ root, disk, clock: clock(), ids: ids(), processes: processes(), isReader: true });
  const scan = async (full?: boolean): Promise<Scan> => {
    const scanned = await store.tasks.scan(full);
    await recordQuarantined(store, scanned.problems);
    return scanned;
  };
  return { ...store, tasks: { ...store.tasks, scan } };
}

/**
 * The first reader quarantines invalid files. The event log must record that, whether or not this
 * command reports it.
 */
export async function recordQuarantined(store: Store, problems: readonly Problem[]): Promise<void> {
  const moved = problems.filter(({ movedTo }) => movedTo !== undefined);
  for (const problem of moved)
    store.events.append({
      at: new Date().toISOString(),
      name: 'file.quarantined',
      peer: store.presence.peer.id,
      problem,
    });
  if (moved.length > 0) await store.flush();
}

export { noWorkspace };
