/** The list of a server's tools on disk, so that a workspace opens without starting it. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';

/** A server that failed is asked again after this time, or when its settings change. */
const RETRY_MS = 2 * 60_000;

/** `read()`: `{tools, hasResources}`, or `{failed: message}`, or undefined if nothing is known. */
export function keptTools(workspace, name, settings) {
  const key = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 16);
  const folder = path.join(workspace, '.guild', 'cache', 'mcp');
  const file = path.join(folder, `${name}-${key}.json`);
  return {
    read() {
      try {
        // The folder may have come from elsewhere, with a pipe or a device in place of the list.
        if (!fs.lstatSync(file).isFile()) return undefined;
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
