/** Pauses an agent and lets it go on, as a person would with an editor: a file under `storage/paused/`, seen by every process before its next turn. */
import path from 'node:path';
import { disk } from '../adapters/disk/index.js';
import { PAUSED, pauses } from '../adapters/pauses/index.js';

/** Durable when resolved. False: it was paused already, and only the reason may be another now. */
export async function pauseAgent(root: string, name: string, reason: string): Promise<boolean> {
  const on = disk();
  const folder = path.join(root, PAUSED);
  const file = path.join(folder, name);
  const fresh = on.stamp(file) === undefined;
  const aside = path.join(folder, `.${name}.${process.pid}`);
  on.makeFolder(folder);
  on.remove(aside);
  on.create(aside, reason === '' ? '' : `${reason}\n`);
  await on.sync(aside);
  on.rename(aside, file);
  await on.syncFolder(folder);
  return fresh;
}

/** Durable when resolved. False: it was not paused. */
export async function resumeAgent(root: string, name: string): Promise<boolean> {
  const on = disk();
  const folder = path.join(root, PAUSED);
  if (!on.remove(path.join(folder, name))) return false;
  await on.syncFolder(folder);
  return true;
}

/** Who is paused now, and why. */
export function pausedAgents(root: string): ReadonlyMap<string, string> {
  return pauses({ root, disk: disk() }).look();
}
