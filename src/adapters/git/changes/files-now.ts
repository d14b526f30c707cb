/** Files of the workspace as they are now, read for a commit. */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../domain/attempt.js';
import { stampOf } from './stamps.js';

type FileNow =
  | { kind: 'file'; mode: string; bytes: Buffer; stamp: number; minute: number }
  | { kind: 'missing' }
  /** Too large, not a file, or not readable: history keeps what it has. */
  | { kind: 'left_out' };

/** Undefined: missing. */
export type StatNow = fs.Stats | 'unreadable' | undefined;

const MAX_FILE_BYTES = 50 * 1024 * 1024;
/** A change this soon after a read may leave the same times on the file. */
const YOUNG_MS = 20;
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;

/**
 * Synchronous: opening a small file takes a tenth of what a thread costs; callers take breaks. Most
 * files that moved are gone, and a thrown ENOENT costs ten times as much as asking first. A file
 * that changes between the calls no longer has the returned stamp.
 */
export function readNow(file: string): FileNow {
  let fd: number | undefined;
  try {
    const stat = fs.lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined || stat.isDirectory()) return { kind: 'missing' };
    const minute = Math.floor(stat.mtimeMs / 60_000);
    if (stat.isSymbolicLink())
      return { kind: 'file', mode: '120000', bytes: Buffer.from(fs.readlinkSync(file)), stamp: stampOf(stat), minute };
    if (!stat.isFile() || stat.size > MAX_FILE_BYTES) return { kind: 'left_out' };
    fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const bytes = Buffer.allocUnsafe(stat.size);
    return {
      kind: 'file',
      mode: stat.mode & 0o100 ? '100755' : '100644',
      bytes: bytes.subarray(0, readAll(fd, bytes)),
      stamp: Date.now() - stat.mtimeMs < YOUNG_MS ? 0 : stampOf(stat),
      minute,
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'missing' } : { kind: 'left_out' };
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

export function statNow(file: string): StatNow {
  return attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }), 'unreadable');
}

function readAll(fd: number, bytes: Buffer): number {
  let done = 0;
  while (done < bytes.length) {
    const count = fs.readSync(fd, bytes, done, bytes.length - done, done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

const TASK = /^tasks\/(pending|active|waiting|completed|failed)\/(.+)\.json$/;

/** The task that a file belongs to; undefined for any other file. */
export function taskOf(name: string): string | undefined {
  const [, state, base] = TASK.exec(name) ?? [];
  return state === 'active' ? /^(.+)_[^_]*$/.exec(base!)?.[1] : base;
}

/** Where a task is now: files move while a commit is read, and a commit must have every task. */
export function placesOfTask(root: string, id: string): string[] {
  const direct = ['pending', 'waiting', 'completed', 'failed'].map((state) => `tasks/${state}/${id}.json`);
  const found = direct.filter((name) => fs.existsSync(path.join(root, name)));
  const active = namesIn(path.join(root, 'tasks', 'active')).filter((name) => name.startsWith(`${id}_`));
  return [...found, ...active.map((name) => `tasks/active/${name}`).filter((name) => taskOf(name) === id)];
}

function namesIn(folder: string): string[] {
  return attempt(() => fs.readdirSync(folder), []);
}

/** A repository inside the workspace keeps its own history, except an agent's own folder. */
export function nestedRepositories(root: string): (name: string) => boolean {
  const known = new Map<string, boolean>();
  const isNested = (folder: string): boolean => {
    if (folder === '.') return false;
    const cached = known.get(folder);
    if (cached !== undefined) return cached;
    const isOwn = /^workspaces\/[^/]+$/.test(folder);
    const here = !isOwn && fs.existsSync(path.join(root, folder, '.git'));
    const nested = here || isNested(path.dirname(folder));
    known.set(folder, nested);
    return nested;
  };
  return (name) => isNested(path.dirname(name));
}
