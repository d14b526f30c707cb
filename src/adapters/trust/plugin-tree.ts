/**
 * The workspace's own plugin code as one tree: its hash, and a copy kept by that hash in the user's
 * state folder. Plugins are loaded from the copy, so the code that was trusted is the code that
 * runs.
 */
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';

interface PluginTree {
  hash: string;
  /** Hash by path below `plugins/`, sorted. */
  files: Record<string, string>;
}

const MAX_FILES = 5000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Throws a ProblemError if the tree cannot be trusted as a whole: links, devices, too much. */
export function hashTree(folder: string): PluginTree {
  const files: Record<string, string> = {};
  let bytes = 0;
  for (const file of filesUnder(folder)) {
    const content = fs.readFileSync(path.join(folder, file));
    bytes += content.length;
    if (bytes > MAX_BYTES) throw new ProblemError(tooMuch(folder));
    files[file] = createHash('sha256').update(content).digest('hex');
  }
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex');
  return { hash, files };
}

/** The copy with this hash; makes it if it is missing. Undefined if the folder has other code. */
export function keepCopy(folder: string, state: string, hash: string): string | undefined {
  const kept = copyOf(state, hash);
  if (fs.existsSync(kept)) return kept;
  const tmp = path.join(path.dirname(kept), `.${randomBytes(6).toString('hex')}`);
  fs.mkdirSync(path.dirname(kept), { recursive: true, mode: 0o700 });
  try {
    for (const file of filesUnder(folder)) {
      const to = path.join(tmp, file);
      fs.mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 });
      fs.writeFileSync(to, fs.readFileSync(path.join(folder, file)), { mode: 0o600, flush: true });
    }
    // The copy is used, because the folder may have changed by now.
    if (!fs.existsSync(tmp) || hashTree(tmp).hash !== hash) return undefined;
    try {
      fs.renameSync(tmp, kept);
    } catch (error) {
      if (!fs.existsSync(kept)) throw error; // otherwise another process was first
    }
    return kept;
  } finally {
    fs.rmSync(tmp, { recursive: true, force: true });
  }
}

export function copyOf(state: string, hash: string): string {
  return path.join(state, 'code', hash);
}

function filesUnder(folder: string): string[] {
  const found: string[] = [];
  const walk = (below: string): void => {
    for (const entry of fs.readdirSync(path.join(folder, below), { withFileTypes: true })) {
      const file = path.posix.join(below, entry.name);
      if (entry.isDirectory()) walk(file);
      else if (entry.isFile()) found.push(file);
      else throw new ProblemError(notAFile(`plugins/${file}`));
      if (found.length > MAX_FILES) throw new ProblemError(tooMuch(folder));
    }
  };
  walk('.');
  return found.sort();
}

function notAFile(file: string): Problem {
  return problem('bad_file', `${file} is not a regular file, so the plugins of this workspace cannot be trusted`, {
    where: { file },
    hint: 'replace links by the files they lead to',
  });
}

function tooMuch(folder: string): Problem {
  return problem('over_limit', `plugins/ has more than ${MAX_FILES} files or ${MAX_BYTES >> 20} MiB`, {
    where: { file: folder },
    hint: 'keep only the code of plugins there',
  });
}
