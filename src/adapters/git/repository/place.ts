/**
 * Finds the workspace's own Git repository. Its top must be the workspace itself: a commit must
 * never go to an enclosing repository or to one that a link points to.
 */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../domain/attempt.js';
import { problem, type Problem } from '../../../domain/problem.js';

type Place =
  | { kind: 'own'; gitDir: string; commonDir: string }
  /** There is no repository, and one may be created. */
  | { kind: 'none'; gitDir: string; commonDir: string }
  | { kind: 'off'; why: string };

export function findPlace(root: string): Place {
  const gitDir = path.join(root, '.git');
  const entry = fs.lstatSync(gitDir, { throwIfNoEntry: false });
  if (entry?.isDirectory()) {
    const led = leadsElsewhere(gitDir);
    if (led !== undefined) return { kind: 'off', why: `${led} leads to another repository, which is not touched` };
    return { kind: 'own', gitDir, commonDir: gitDir };
  }
  if (entry?.isFile()) return linkedWorktree(gitDir);
  if (entry !== undefined) return { kind: 'off', why: `${gitDir} is neither a folder nor a file` };
  const above = enclosingRepository(fs.realpathSync(root));
  if (above !== undefined) {
    const why = `the workspace is inside the repository ${above}, which is not touched; run \`git init\` in the workspace to give it its own`;
    return { kind: 'off', why };
  }
  return { kind: 'none', gitDir, commonDir: gitDir };
}

function enclosingRepository(root: string): string | undefined {
  for (let folder = path.dirname(root); ; folder = path.dirname(folder)) {
    if (fs.lstatSync(path.join(folder, '.git'), { throwIfNoEntry: false }) !== undefined) return folder;
    if (path.dirname(folder) === folder) return undefined;
  }
}

/** A `.git` file points to a folder elsewhere. It is trusted only if that folder points back. */
function linkedWorktree(file: string): Place {
  const off: Place = { kind: 'off', why: `${file} points to a repository that does not point back to this folder` };
  const target = /^gitdir: (.+)$/m.exec(readSmallFile(file) ?? '')?.[1]?.trim();
  if (target === undefined) return off;
  const gitDir = path.resolve(path.dirname(file), target);
  const backLink = readSmallFile(path.join(gitDir, 'gitdir'))?.trim();
  const common = readSmallFile(path.join(gitDir, 'commondir'))?.trim();
  if (backLink === undefined || common === undefined) return off;
  const commonDir = path.resolve(gitDir, common);
  try {
    if (fs.realpathSync(path.resolve(gitDir, backLink)) !== fs.realpathSync(file)) return off;
    // Git keeps worktrees there. Any other folder may have come with the workspace.
    if (path.dirname(fs.realpathSync(gitDir)) !== path.join(fs.realpathSync(commonDir), 'worktrees')) return off;
  } catch {
    return off;
  }
  return { kind: 'own', gitDir, commonDir };
}

/** Places through which Git would write elsewhere, if they are links. */
const WRITTEN = ['HEAD', 'index', 'config', 'packed-refs', 'logs', 'logs/HEAD', 'objects', 'objects/pack'];

/** A folder from elsewhere may contain links that lead Git into another repository. */
function leadsElsewhere(gitDir: string): string | undefined {
  const common = path.join(gitDir, 'commondir');
  if (fs.lstatSync(common, { throwIfNoEntry: false }) !== undefined) return common;
  const parts = branchOf(gitDir)?.split('/') ?? [];
  const ofBranch = parts.map((_, n) => parts.slice(0, n + 1).join('/'));
  return [...WRITTEN, ...ofBranch, ...ofBranch.map((name) => `logs/${name}`)]
    .map((name) => path.join(gitDir, name))
    .find((file) => fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink());
}

interface Head {
  commit?: string;
  branch: string;
}

/** Reads HEAD without running git; undefined if it is not in plain files and git must be asked. */
export function readHead(gitDir: string, commonDir: string): Head | undefined {
  const branch = branchOf(gitDir);
  const commit = branch && readSmallFile(path.join(commonDir, branch))?.trim();
  return branch !== undefined && commit !== undefined && isId(commit) ? { commit, branch } : undefined;
}

export function branchOf(gitDir: string): string | undefined {
  return /^ref: (refs\/heads\/[^\0-\x20~^:?*[\\\x7f]+)\s*$/.exec(readSmallFile(path.join(gitDir, 'HEAD')) ?? '')?.[1];
}

export function isId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

const OPERATIONS: [string, string][] = [
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
];

export function whyPaused(gitDir: string): Problem | undefined {
  const where = { where: { file: gitDir } };
  for (const [name, operation] of OPERATIONS) {
    if (fs.lstatSync(path.join(gitDir, name), { throwIfNoEntry: false }) === undefined) continue;
    return problem(
      'needs_human',
      `${operation} is in progress in the workspace's repository, so history is paused; work continues`,
      {
        ...where,
        hint: 'continue or abort it with git; the next commit then contains everything',
      },
    );
  }
  const head = readSmallFile(path.join(gitDir, 'HEAD'));
  if (head !== undefined && isId(head.trim())) {
    return problem(
      'needs_human',
      `the workspace's repository is not on a branch (detached HEAD), so history is paused; work continues`,
      {
        ...where,
        hint: 'switch to a branch; the next commit then contains everything',
      },
    );
  }
  return undefined;
}

/** Reads a small regular file. Never follows a link or blocks on a FIFO. */
export function readSmallFile(file: string, maxBytes = 64 * 1024): string | undefined {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size > maxBytes) return undefined;
  return attempt(() => fs.readFileSync(file, 'utf8'));
}
