/** Removes the sockets of dead processes. Nobody listens there, so nobody loses anything. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { isOwnSocket, SOCKET, UNFINISHED } from './place.js';

/** A socket without a listener that is older than this belongs to a dead process. */
const UNFINISHED_MS = 60_000;

export function sweep(folder: string): void {
  for (const name of listed(folder)) {
    const file = path.join(folder, name);
    if (name.endsWith(UNFINISHED) && attempt(() => Date.now() - fs.lstatSync(file).mtimeMs > UNFINISHED_MS, false))
      remove(file);
    if (!name.endsWith(SOCKET) || !isOwnSocket(file)) continue;
    const socket = net.connect(file);
    socket.unref();
    socket.on('connect', () => socket.destroy());
    socket.on('error', (error) => removeIfDead(file, error));
  }
}

/** Names are unique, so a socket that has lost its listener never gets another. */
export function removeIfDead(file: string, error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNREFUSED') remove(file);
}

export function listed(folder: string): string[] {
  return attempt(() => fs.readdirSync(folder), []);
}

function remove(file: string): void {
  try {
    fs.unlinkSync(file);
  } catch {
    // Another process was quicker, or the removal is not permitted; the next sweep tries again.
  }
}
