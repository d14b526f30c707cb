/**
 * The list of a server's tools, so that a workspace opens without starting it. It is kept in the
 * user's state folder: a list in the workspace could come from elsewhere with forged descriptions.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { stateFolder } from './state-folder.mjs';

/** A server that failed is asked again after this time, or when its settings change. */
const RETRY_MS = 2 * 60_000;

/** `read()`: `{tools, hasResources}`, or `{failed: message}`, or undefined if nothing is known. */
export function keptTools({ workspace, env }, name, settings) {
  const key = createHash('sha256').update(JSON.stringify([placeOf(workspace), name, settings])).digest('hex');
  const folder = path.join(stateFolder(env), 'mcp', 'tools');
  const file = path.join(folder, `${key.slice(0, 32)}.json`);
  return {
    read() {
      try {
        const kept = JSON.parse(fs.readFileSync(file, 'utf8'));
        if (kept.failed !== undefined) return Date.now() - fs.statSync(file).mtimeMs < RETRY_MS ? kept : undefined;
        return Array.isArray(kept.tools) ? kept : undefined;
      } catch {
        return undefined;
      }
    },
    /** The next look asks the server. */
    forget: () => fs.rmSync(file, { force: true }),
    write(value) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      fs.rmSync(`${file}.${process.pid}`, { force: true });
      fs.writeFileSync(`${file}.${process.pid}`, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
      fs.renameSync(`${file}.${process.pid}`, file);
    },
  };
}

function placeOf(workspace) {
  try {
    return fs.realpathSync(workspace);
  } catch {
    return workspace;
  }
}
