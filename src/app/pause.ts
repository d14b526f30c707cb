/**
 * Pauses and resumes an agent or a task with a file under `storage/paused/`, which every process
 * checks before its next turn.
 */
import path from 'node:path';
import { clock } from '../adapters/clock/index.js';
import { disk as realDisk } from '../adapters/disk/index.js';
import type { FarParts, FarStore } from '../adapters/far/index.js';
import type { Shelf } from '../adapters/far/shelf.js';
import { PAUSED as FAR_PAUSED, pause, pausedIn, resume } from '../adapters/far/ports/pauses.js';
import { PAUSED, pauses, TASK } from '../adapters/pauses/index.js';
import type { Store } from '../ports/store/index.js';
import { farPartsOf, openFarReader } from './readers/open-reader.js';

/** Durable when resolved. False: it was already paused; only the reason may have changed. */
export async function pauseAgent(root: string, name: string, reason: string): Promise<boolean> {
  const disk = realDisk();
  const shared = openFarReader(disk, root);
  if (shared !== undefined) return onShelf(shared, (shelf) => pause(shelf, name, reason));
  const folder = path.join(root, PAUSED);
  const file = path.join(folder, name);
  const fresh = disk.stamp(file) === undefined;
  const temp = path.join(folder, `.${name}.${process.pid}`);
  disk.makeFolder(folder);
  disk.remove(temp);
  disk.create(temp, reason === '' ? '' : `${reason}\n`);
  await disk.sync(temp);
  disk.rename(temp, file);
  await disk.syncFolder(folder);
  return fresh;
}

/** Durable when resolved. False: it was not paused. */
export async function resumeAgent(root: string, name: string): Promise<boolean> {
  const disk = realDisk();
  const shared = openFarReader(disk, root);
  if (shared !== undefined) return onShelf(shared, (shelf) => resume(shelf, name));
  const folder = path.join(root, PAUSED);
  if (!disk.remove(path.join(folder, name))) return false;
  await disk.syncFolder(folder);
  return true;
}

interface Paused {
  agents: ReadonlyMap<string, string>;
  tasks: ReadonlyMap<string, string>;
}

/** The pauses as of now: on this machine, and in a shared store. */
export async function readPaused(root: string, store: Store): Promise<Paused> {
  const here = pauses({ root, disk: realDisk(), clock: clock() });
  const near: Paused = { agents: here.look(), tasks: here.tasks() };
  const parts: FarParts | undefined = farPartsOf(store);
  if (parts === undefined) return near;
  const far = pausedIn(await parts.ledger.list(FAR_PAUSED, { live: true }));
  return { agents: new Map([...far.agents, ...near.agents]), tasks: new Map([...far.tasks, ...near.tasks]) };
}

/** The task and everything under it wait until `resumeTask`. Durable when resolved. */
export function pauseTask(root: string, task: string, reason: string): Promise<boolean> {
  return pauseAgent(root, TASK + task, reason);
}

export function resumeTask(root: string, task: string): Promise<boolean> {
  return resumeAgent(root, TASK + task);
}

async function onShelf<T>(store: FarStore, act: (shelf: Shelf) => Promise<T>): Promise<T> {
  try {
    return await act(store.far.shelf(FAR_PAUSED));
  } finally {
    await store.close();
  }
}
