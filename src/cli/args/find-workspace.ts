/**
 * Finds the workspace: the named folder, the nearest workspace upwards, or this folder. The search
 * ends at a folder of another user: whoever owns a parent could plant a workspace there.
 */
import { attempt } from '../../domain/attempt.js';
import fs from 'node:fs';
import path from 'node:path';
import type { Io } from '../process/io.js';

export function findRoot(workspace: string | undefined, { cwd, env }: Pick<Io, 'cwd' | 'env'>): string {
  const folder = workspace ?? env['GUILD_WORKSPACE'];
  if (folder !== undefined) return path.resolve(cwd, folder);
  for (let at = cwd; at === cwd || isOwn(at); at = path.dirname(at)) {
    if (isWorkspaceFolder(at)) return at;
    if (path.dirname(at) === at || !isOwn(at)) break;
  }
  return cwd;
}

export function isWorkspaceFolder(folder: string): boolean {
  return fs.existsSync(path.join(folder, 'guild.yaml'));
}

/** A folder that cannot be read, as after `sudo -u` in a private home, belongs to another user. */
function isOwn(folder: string): boolean {
  const user = process.getuid?.();
  return user === undefined || attempt(() => fs.statSync(folder).uid === user, false);
}
