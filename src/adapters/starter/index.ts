/** Copies a starter into a folder. Existing files are kept, so it is safe to run again. */
import { packageFolder } from './package-folder.js';
import fs from 'node:fs';
import path from 'node:path';

/** `swarm`: peers that bid for tasks, instead of an office with an orchestrator. */
export function initWorkspace(folder: string, { swarm = false } = {}): { created: string[]; kept: string[] } {
  const created: string[] = [];
  const kept: string[] = [];
  for (const [from, file] of starterFiles(swarm)) {
    // npm leaves files named .gitignore out of packages, so it is shipped under another name.
    const name = file === 'gitignore' ? '.gitignore' : file;
    const target = path.join(folder, name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    try {
      fs.copyFileSync(path.join(from, file), target, fs.constants.COPYFILE_EXCL);
      created.push(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      kept.push(name);
    }
  }
  for (const state of ['pending', 'active', 'waiting', 'completed', 'failed']) {
    fs.mkdirSync(path.join(folder, 'tasks', state), { recursive: true });
  }
  return { created, kept };
}

/** The swarm starter shares `.gitignore` and `memory/` with the first one. */
function starterFiles(swarm: boolean): [string, string][] {
  const office = packageFolder('starter');
  const own = packageFolder('starter-swarm');
  const files = filesUnder(office).map((file): [string, string] => [office, file]);
  if (!swarm) return files;
  const shared = files.filter(([, file]) => file === 'gitignore' || file.startsWith('memory'));
  return [...shared, ...filesUnder(own).map((file): [string, string] => [own, file])];
}

function filesUnder(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}
