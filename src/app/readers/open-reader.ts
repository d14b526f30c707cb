/** Opens a workspace only to read it: the store without engine, agents or models. */
import path from 'node:path';
import { clock, ids } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import type { FarParts, FarStore } from '../../adapters/far/index.js';
import { files } from '../../adapters/files/index.js';
import { processes } from '../../adapters/processes/index.js';
import { linkedState } from '../../adapters/trust/rights.js';
import { ProblemError, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { Store } from '../../ports/store/index.js';
import type { Scan } from '../../ports/store/tasks.js';
import { mayBeShared } from '../far/may-be-shared.js';
import { isShared, openFarStore } from '../far/open-store.js';
import { requireWorkspace } from './no-workspace.js';
import { readConfig } from './read-config.js';

export function openReader(folder: string, env = process.env): Store {
  const root = path.resolve(folder);
  const disk = realDisk();
  requireWorkspace(disk, root);
  const shared = openFarReader(disk, root, env);
  return shared ?? openFilesReader(root);
}

/** The files of the folder, whatever guild.yaml says. */
export function openFilesReader(root: string): Store {
  const disk = realDisk();
  const linked = linkedState(root);
  if (linked !== undefined) throw new ProblemError(linked);
  const store = files({ root, disk, clock: clock(), ids: ids(), processes: processes(), isReader: true });
  const scan = async (full?: boolean): Promise<Scan> => {
    const scanned = await store.tasks.scan(full);
    await recordQuarantined(store, scanned.problems);
    return scanned;
  };
  return { ...store, tasks: { ...store.tasks, scan } };
}

/** A command reports a failure soon, because a person waits. */
const PATIENCE_MS = 5000;

/** Undefined if the work of this workspace is in its folder. */
export function openFarReader(disk: Disk, root: string, env = process.env): FarStore | undefined {
  if (!mayBeShared(disk, root, env)) return undefined;
  const { config, unreadable } = readConfig(disk, root, env);
  if (unreadable) throw new ProblemError(unreadable);
  if (!isShared(config, env)) return undefined;
  const ground = { root, disk, clock: clock(), ids: ids(), env, config, processes: processes() };
  return openFarStore({ ...ground, patienceMs: PATIENCE_MS, isReader: true });
}

/** The parts of a shared store that other ports need. */
export function farPartsOf(store: Store): FarParts | undefined {
  return (store as Partial<FarStore>).far;
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
