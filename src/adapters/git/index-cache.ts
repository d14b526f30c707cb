/**
 * The Git index that commits are made from. It is separate from the one in `.git`, so a person's
 * staged work or a stale lock cannot block commits. Each index is cached under its commit and
 * copied before use, so processes never share one. The cache may be deleted at any time.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { RunGit } from './program.js';

interface IndexCache {
  /** Returns a copy of the index that matches `head`. */
  take(onFiles: RunGit, head: string | undefined): Promise<string>;
  /** Caches the copy as the index of this commit. */
  keep(file: string, commit: string, before: string | undefined): void;
  drop(file: string): void;
}

export function indexCache(root: string): IndexCache {
  const folder = path.join(root, '.guild', 'git');
  return {
    async take(onFiles, head) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = path.join(folder, `work-${process.pid}-${randomUUID().slice(0, 8)}`);
      drop(file);
      const cached = fs.readdirSync(folder).filter((name) => name.startsWith('index.'));
      const exact = cached.find((name) => name === `index.${head}`);
      const start = exact ?? cached[0];
      if (start !== undefined) await fs.promises.copyFile(path.join(folder, start), file).catch(() => undefined);
      if (head === undefined) drop(file);
      else if (exact === undefined) {
        const env = { GIT_INDEX_FILE: file };
        if (start !== undefined && (await onFiles(['read-tree', '-m', head], { env })).code === 0) return file;
        drop(file);
        await onFiles(['read-tree', head], { env });
      }
      return file;
    },
    keep(file, commit, before) {
      try {
        fs.renameSync(file, path.join(folder, `index.${commit}`));
      } catch {
        return; // it is only a cache
      }
      for (const name of fs.readdirSync(folder)) {
        const old = path.join(folder, name);
        if (name === `index.${before}` || (name !== `index.${commit}` && isOld(old))) fs.rmSync(old, { force: true });
      }
    },
    drop,
  };
}

function drop(file: string): void {
  fs.rmSync(file, { force: true });
  fs.rmSync(`${file}.lock`, { force: true });
}

/** True for a file left by a process that was killed. */
function isOld(file: string): boolean {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > 10 * 60_000;
}

/**
 * Updates the index in `.git`, so that a person's `git status` shows their own changes and not our
 * commit. Skipped if another git holds the lock; the next commit tries again.
 */
export async function showIndex(file: string, gitDir: string, isCurrent: () => boolean): Promise<void> {
  const lock = path.join(gitDir, 'index.lock');
  const copy = `${file}.shown`;
  removeOwnStaleLock(lock, path.dirname(file));
  await fs.promises.copyFile(file, copy);
  try {
    fs.linkSync(copy, lock); // fails if the lock exists
  } catch {
    fs.rmSync(copy, { force: true });
    return;
  }
  if (isCurrent()) fs.renameSync(lock, path.join(gitDir, 'index'));
  else fs.rmSync(lock, { force: true });
  fs.rmSync(copy, { force: true });
}

/** Removes a lock that a killed process of ours left. A lock of another git is never touched. */
function removeOwnStaleLock(lock: string, folder: string): void {
  const lockStat = fs.lstatSync(lock, { throwIfNoEntry: false });
  if (lockStat === undefined || Date.now() - lockStat.ctimeMs < 10_000) return;
  for (const name of fs.readdirSync(folder).filter((entry) => entry.endsWith('.shown'))) {
    const copy = path.join(folder, name);
    if (fs.lstatSync(copy, { throwIfNoEntry: false })?.ino !== lockStat.ino) continue;
    fs.rmSync(lock, { force: true });
    fs.rmSync(copy, { force: true });
  }
}
