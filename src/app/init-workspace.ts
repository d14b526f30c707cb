/** Copies the starter set into a folder. What is there already is kept, so it is safe to run again. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ProblemError, problem } from '../domain/problem.js';

export function initWorkspace(folder: string): { created: string[]; kept: string[] } {
  const from = packageFolder('starter');
  const created: string[] = [];
  const kept: string[] = [];
  for (const file of filesUnder(from)) {
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

/** A folder that is shipped with the program. */
export function packageFolder(...parts: string[]): string {
  let at = path.dirname(fileURLToPath(import.meta.url));
  while (!fs.existsSync(path.join(at, 'package.json'))) {
    if (path.dirname(at) === at) throw new ProblemError(problem('bug', 'the program cannot find its own files'));
    at = path.dirname(at);
  }
  return path.join(at, ...parts);
}

function filesUnder(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => path.relative(folder, path.join(one.parentPath, one.name)))
    .sort();
}
