/**
 * What lies in the workspace, as a tree. Git lists what changed and takes it in by name in a second step: files move about while
 * that happens, and one that is gone by then is simply gone.
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
    ...KEPT_OUT.flatMap((one) => ['-x', one]),
  ];
  let gone: ReadonlySet<string> = new Set();
  for (let attempt = 1; ; attempt++) {
    const listed = must(await onFiles(list, { env }));
    const paths = [...new Set(listed.out.split('\0'))].filter((one) => isWanted(root, one));
    if (paths.length === 0) break;
    // A task that moves while git looks may be seen in no folder at all. So its old place is given up only when it was
    // missing there twice: by then the new one has been listed.
    const missing = new Set(paths.filter((one) => isTask(one) && !isThere(root, one)));
    const sure = paths.filter((one) => !missing.has(one) || gone.has(one));
    const args = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
    const taken = await onFiles(args, { env, input: sure.map((one) => `${one}\0`).join('') });
    const moved = sure.some((one) => isTask(one) && !missing.has(one) && !isThere(root, one));
    const isWhole = taken.code === 0 && !moved && sure.length === paths.length;
    if (isWhole || attempt === TRIES) {
      must(taken); // a file vanished between two looks of git at it, every time
      break;
    }
    gone = missing;
  }
  return must(await onFiles(['write-tree'], { env })).out.trim();
}

/** A name that ends in a slash is a repository of its own: it keeps its own history and does not become a part of this one. */
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

export function must<T extends { code: number; err: string }>(ran: T): T {
  if (ran.code === 0) return ran;
  const said = ran.err.trim().split('\n').slice(-2).join('; ').slice(0, 300) || `it ended with ${ran.code}`;
  throw new ProblemError(
    problem('tool_failed', `history could not be written: git says: ${said}`, {
      hint: 'work goes on; the next commit has everything once git works again',
    }),
  );
}
