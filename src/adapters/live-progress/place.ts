/**
 * Where the sockets of running turns are: `.guild/live`, or a folder of the system for files of
 * running programs if that path is too long for a socket. No other user can enter these folders.
 */
import type { Env } from '../../domain/config/env.js';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';

export const SOCKET = '.sock';
/** A socket without a listener yet. */
export const UNFINISHED = '.new';

/** The shortest limit among the systems that we support, without the terminating zero. */
const MAX_PATH_BYTES = 103;

/** Every folder that may have sockets of this workspace, the preferred one first. */
export function socketFolders(root: string, env: Env): string[] {
  const uid = process.getuid?.();
  // Windows has no such files.
  if (uid === undefined) return [];
  const id = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const bases = [env['XDG_RUNTIME_DIR'], os.tmpdir()].filter((base) => base !== undefined && path.isAbsolute(base));
  const elsewhere = bases.map((base) => path.join(base!, `guildhall-${uid}`, id));
  return [path.join(root, '.guild', 'live'), ...new Set(elsewhere)];
}

/** Creates the first folder in which a socket of this name can be. Undefined if there is none. */
export function makeSocketFolder(root: string, env: Env, name: string): string | undefined {
  const workspaces = path.join(root, '.guild');
  for (const folder of socketFolders(root, env)) {
    if (Buffer.byteLength(path.join(folder, name)) > MAX_PATH_BYTES) continue;
    const parent = path.dirname(folder);
    if ((parent === workspaces || isMade(parent)) && isMade(folder)) return folder;
  }
  return undefined;
}

/** A folder of another user, or one that others can enter, may have sockets that are not ours. */
export function isPrivateFolder(folder: string): boolean {
  const stat = lstat(folder);
  return stat !== undefined && stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}

export function isOwnSocket(file: string): boolean {
  const stat = lstat(file);
  return stat !== undefined && stat.isSocket() && stat.uid === process.getuid?.();
}

function isMade(folder: string): boolean {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  return isPrivateFolder(folder);
}

function lstat(file: string): fs.Stats | undefined {
  return attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }));
}
