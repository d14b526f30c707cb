/** A workspace opened only to be looked at: the store without engine, agents or models. */
import path from 'node:path';
import { clock, ids } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import { files, isWorkspace } from '../../adapters/files/index.js';
import { processes } from '../../adapters/processes/index.js';
import { ProblemError, type Problem } from '../../domain/problem.js';
import type { Store } from '../../ports/store/index.js';
import type { Scan } from '../../ports/store/tasks.js';
import { noWorkspace } from './no-workspace.js';

export function openReader(folder: string): Store {
  const root = path.resolve(folder);
  const on = disk();
  if (!isWorkspace(on, root)) throw new ProblemError(noWorkspace(root, on.stamp(root) !== undefined));
  const store = files({ root, disk: on, clock: clock(), ids: ids(), processes: processes() });
  const scan = async (full?: boolean): Promise<Scan> => {
    const scanned = await store.tasks.scan(full);
    await noteSetAside(store, scanned.problems);
    return scanned;
  };
  return { ...store, tasks: { ...store.tasks, scan } };
}

/** Whoever looks first sets aside what can never be read; history must know of it, whether or not this command tells. */
export async function noteSetAside(store: Store, problems: readonly Problem[]): Promise<void> {
  const moved = problems.filter((one) => one.movedTo !== undefined);
  for (const one of moved)
    store.events.append({
      at: new Date().toISOString(),
      name: 'file.quarantined',
      peer: store.presence.peer.id,
      problem: one,
    });
  if (moved.length > 0) await store.flush();
}

export { noWorkspace };
