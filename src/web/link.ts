/** Another address for a window that is already running, made from another terminal. */
import http from 'node:http';
import { windowPlace } from '../app/trust/window-place.js';
import { newToken } from './entry.js';

const PATIENCE_MS = 2000;

/** Undefined if no server of this workspace answers. */
export async function linkOf(
  root: string,
  env: Record<string, string | undefined>,
  readOnly: boolean,
): Promise<string | undefined> {
  const { port, address, key } = windowPlace(root, env, readOnly);
  if (port === 0 || address === undefined) return undefined;
  return (await answers(port)) ? `${address}#t=${newToken(key)}` : undefined;
}

/** Whether something answers on this port. Only our own server accepts a token of our key. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = http.get({ host: '127.0.0.1', port, path: '/', agent: false, timeout: PATIENCE_MS }, (reply) => {
      reply.destroy();
      resolve(true);
    });
    asked.on('timeout', () => asked.destroy());
    // A server with TLS drops a plain request, but it is running.
    asked.on('error', (thrown: NodeJS.ErrnoException) => resolve(thrown.code === 'ECONNRESET'));
  });
}
