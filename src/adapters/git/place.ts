/**
 * Which repository is the workspace's own. Only one whose top is the workspace itself: a commit must never land in a bigger
 * repository that a person keeps around it, nor in one that a link in the workspace points to.
 */
import fs from 'node:fs';
import path from 'node:path';
import { problem, type Problem } from '../../domain/problem.js';

export type Place =
  | { kind: 'own'; gitDir: string; commonDir: string }
  /** There is none, and one may be made. */
  | { kind: 'none'; gitDir: string; commonDir: string }
  | { kind: 'off'; why: string };

export function findPlace(root: string): Place {
  const gitDir = path.join(root, '.git');
  const found = fs.lstatSync(gitDir, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { kind: 'own', gitDir, commonDir: gitDir };
  if (found?.isFile()) return linkedWorktree(gitDir);
  if (found !== undefined) return { kind: 'off', why: `${gitDir} is neither a folder nor a file` };
  const above = topAbove(fs.realpathSync(root));
  if (above !== undefined) {
    const why = `the workspace lies inside the repository ${above}, which is left alone; \`git init\` in the workspace gives it one of its own`;
    return { kind: 'off', why };
  }
  return { kind: 'none', gitDir, commonDir: gitDir };
}

function topAbove(root: string): string | undefined {
  for (let at = path.dirname(root); ; at = path.dirname(at)) {
    if (fs.lstatSync(path.join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return at;
    if (path.dirname(at) === at) return undefined;
  }
}

/** A `.git` file names a folder elsewhere. It is believed only if that folder names this file too. */
function linkedWorktree(file: string): Place {
  const off: Place = { kind: 'off', why: `${file} points to a repository that does not know this folder` };
  const named = /^gitdir: (.+)$/m.exec(small(file) ?? '')?.[1]?.trim();
  if (named === undefined) return off;
  const gitDir = path.resolve(path.dirname(file), named);
  const back = small(path.join(gitDir, 'gitdir'))?.trim();
  const common = small(path.join(gitDir, 'commondir'))?.trim();
  if (back === undefined || common === undefined) return off;
  try {
    if (fs.realpathSync(path.resolve(gitDir, back)) !== fs.realpathSync(file)) return off;
  } catch {
    return off;
  }
  return { kind: 'own', gitDir, commonDir: path.resolve(gitDir, common) };
}

export interface Head {
  /** Undefined: there is no commit yet. */
  commit?: string;
  branch: string;
}

/** Where HEAD is, read without git where that is plain; undefined where git must be asked. */
export function readHead(gitDir: string, commonDir: string): Head | undefined {
  const branch = branchOf(gitDir);
  const commit = branch && small(path.join(commonDir, branch))?.trim();
  return branch !== undefined && commit !== undefined && isId(commit) ? { commit, branch } : undefined;
}

export function branchOf(gitDir: string): string | undefined {
  return /^ref: (refs\/heads\/[^\0-\x20~^:?*[\\\x7f]+)\s*$/.exec(small(path.join(gitDir, 'HEAD')) ?? '')?.[1];
}

export function isId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

const UNDER_WAY: [string, string][] = [
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
];

/** Why nothing may be committed right now, though it could at another time. */
export function whyPaused(gitDir: string): Problem | undefined {
  const where = { where: { file: gitDir } };
  for (const [name, what] of UNDER_WAY) {
    if (fs.lstatSync(path.join(gitDir, name), { throwIfNoEntry: false }) === undefined) continue;
    return problem(
      'needs_human',
      `${what} is under way in the workspace's repository, so history pauses; work goes on`,
      {
        ...where,
        hint: 'end it with git (continue or abort); the next commit then has everything',
      },
    );
  }
  const head = small(path.join(gitDir, 'HEAD'));
  if (head !== undefined && isId(head.trim())) {
    return problem(
      'needs_human',
      `the workspace's repository is on no branch (detached HEAD), so history pauses; work goes on`,
      {
        ...where,
        hint: 'switch to a branch; the next commit then has everything',
      },
    );
  }
  return undefined;
}

/** A small regular file, without following a link and without waiting for a pipe. */
function small(file: string): string | undefined {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size > 64 * 1024) return undefined;
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
