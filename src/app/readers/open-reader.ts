/** Opens a workspace only to read it: the store without engine, agents or models. */
import path from 'node:path';
import { clock, ids } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { files, isWorkspace } from '../../adapters/files/index.js';
import { processes } from '../../adapters/processes/index.js';
import { ProblemError, type Problem } from '../../domain/problem.js';
import type { Store } from '../../ports/store/index.js';
import type { Scan } from '../../ports/store/tasks.js';
import { isShared, openFarStore } from '../far/open-store.js';
import { noWorkspace } from './no-workspace.js';
import { readConfig } from './read-config.js';

/** The store that guild.yaml names. One on another machine is looked at by the first scan. */
export function openReader(folder: string, env: Readonly<Record<string, string | undefined>> = process.env): Store {
  const root = path.resolve(folder);
  const disk = realDisk();
  if (!isWorkspace(disk, root)) throw new ProblemError(noWorkspace(root, disk.stamp(root) !== undefined));
  const { config } = readConfig(disk, root, env);
  if (!isShared(config, env)) return openFilesReader(root);
  const ground = { root, disk, clock: clock(), ids: ids(), env, config, processes: processes() };
  return openFarStore({ ...ground, patienceMs: READER_PATIENCE_MS });
}

/** A person waits for the answer of a command. */
const READER_PATIENCE_MS = 5000;

/** The files of the folder, whatever guild.yaml says. */
export function openFilesReader(root: string): Store {
  const disk = realDisk();
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
