/**
 * Folders of tests among the system's temporary files. None of them outlives its process, unless it
 * is killed.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A test, or the hooks of a file. */
interface Ending {
  after(remove: () => Promise<void>): void;
}

const made = new Set<string>();
process.on('exit', () => {
  for (const folder of made) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/**
 * `ending`: when to remove it; else its process does when it exits, or the test calls
 * `removeFolder` once nothing writes there. `name` shows whose folder it is.
 */
export function tempFolder(name: string, ending?: Ending): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `guild-${name}-`)));
  made.add(folder);
  ending?.after(() => removeFolder(folder));
  return folder;
}

/** Tries again if something that has just ended wrote another file meanwhile. */
export function removeFolder(folder: string): Promise<void> {
  return fs.promises.rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
