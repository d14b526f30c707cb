/**
 * Writes the workspace's files to a Git tree. Git first lists the changes and then adds them by
 * name, because files move while that happens and a file may be gone by then.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ProblemError, problem } from '../../domain/problem.js';
import { isKeptOut, KEPT_OUT } from './kept-out.js';
import type { RunGit } from './program.js';

const MAX_FILE_BYTES = 50 * 1024 * 1024;
const TRIES = 6;

export async function stage(onFiles: RunGit, root: string, index: string): Promise<string> {
  const env = { GIT_INDEX_FILE: index };
  const list = [
    'ls-files',
    '-z',
    '--others',
    '--modified',
    '--exclude-standard',
    ...KEPT_OUT.flatMap((file) => ['-x', file]),
  ];
  let missingBefore: ReadonlySet<string> = new Set();
  for (let attempt = 1; ; attempt++) {
    const listed = must(await onFiles(list, { env }));
    const paths = [...new Set(listed.out.split('\0'))].filter((file) => isWanted(root, file));
    if (paths.length === 0) break;
    // A task that moves during the listing may appear in no folder at all. So it is removed from
    // its old place only if it is missing there twice; by then the new place has been listed.
    const missing = new Set(paths.filter((file) => isTask(file) && !isThere(root, file)));
    const confirmed = paths.filter((file) => !missing.has(file) || missingBefore.has(file));
    const args = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
    const update = await onFiles(args, { env, input: confirmed.map((file) => `${file}\0`).join('') });
    const moved = confirmed.some((file) => isTask(file) && !missing.has(file) && !isThere(root, file));
    const isComplete = update.code === 0 && !moved && confirmed.length === paths.length;
    if (isComplete || attempt === TRIES) {
      must(update); // files disappeared during every attempt
      break;
    }
    missingBefore = missing;
  }
  return must(await onFiles(['write-tree'], { env })).out.trim();
}

/** A name that ends in a slash is a nested repository, which keeps its own history. */
function isWanted(root: string, name: string): boolean {
  if (name === '' || name.endsWith('/') || isKeptOut(name)) return false;
  const stat = fs.lstatSync(path.join(root, name), { throwIfNoEntry: false });
  return stat === undefined || stat.size <= MAX_FILE_BYTES;
}

function isTask(name: string): boolean {
  return name.startsWith('tasks/');
}

function isThere(root: string, name: string): boolean {
  return fs.lstatSync(path.join(root, name), { throwIfNoEntry: false }) !== undefined;
}

export function must<T extends { code: number; err: string }>(result: T): T {
  if (result.code === 0) return result;
  const reason = result.err.trim().split('\n').slice(-2).join('; ').slice(0, 300) || `exit code ${result.code}`;
  throw new ProblemError(
    problem('tool_failed', `history could not be written: git says: ${reason}`, {
      hint: 'work continues; the next commit contains everything once git works again',
    }),
  );
}
