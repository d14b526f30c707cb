/**
 * The index that commits are made from. It is ours, not the one in `.git`, so neither a person's half-staged work nor a lock that a
 * dead git left behind stops anybody. Each index is kept under the commit it belongs to and copied before use: processes never
 * share one, and the branch decides who was first. Everything in here may be deleted; git then compares every file anew.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { RunGit } from './program.js';

interface IndexCache {
  /** A working copy that says what `head` says. */
  take(onFiles: RunGit, head: string | undefined): Promise<string>;
  /** The copy became the index of this commit. */
  keep(file: string, commit: string, before: string | undefined): void;
  drop(file: string): void;
}

export function indexCache(root: string): IndexCache {
  const folder = path.join(root, '.guild', 'git');
  let count = 0;
  return {
    async take(onFiles, head) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = path.join(folder, `work-${process.pid}-${++count}`);
      drop(file);
      const known = fs.readdirSync(folder).filter((name) => name.startsWith('index.'));
      const exact = known.find((name) => name === `index.${head}`);
      const start = exact ?? known[0];
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
        return; // only a cache
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

/** Left by a process that ended in between. */
function isOld(file: string): boolean {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > 10 * 60_000;
}

/**
 * Gives people's own git the same index, so that `git status` shows what they changed and not what we committed. Only a
 * courtesy: where another git holds the lock, it is left for the next commit.
 */
export async function showIndex(file: string, gitDir: string, isCurrent: () => boolean): Promise<void> {
  const lock = path.join(gitDir, 'index.lock');
  const aside = `${file}.shown`;
  removeOurDeadLock(lock, path.dirname(file));
  await fs.promises.copyFile(file, aside);
  try {
    fs.linkSync(aside, lock); // fails where a lock is
  } catch {
    fs.rmSync(aside, { force: true });
    return;
  }
  if (isCurrent()) fs.renameSync(lock, path.join(gitDir, 'index'));
  else fs.rmSync(lock, { force: true });
  fs.rmSync(aside, { force: true });
}

/** A process of ours that was killed between two names of the same file left the lock behind. Another git's lock is never touched. */
function removeOurDeadLock(lock: string, folder: string): void {
  const held = fs.lstatSync(lock, { throwIfNoEntry: false });
  if (held === undefined || Date.now() - held.ctimeMs < 10_000) return;
  for (const name of fs.readdirSync(folder).filter((one) => one.endsWith('.shown'))) {
    const aside = path.join(folder, name);
    if (fs.lstatSync(aside, { throwIfNoEntry: false })?.ino !== held.ino) continue;
    fs.rmSync(lock, { force: true });
    fs.rmSync(aside, { force: true });
  }
}
