/**
 * The repository that history is written to: `.guild/history.git`, which belongs to the program
 * alone. It is created without git, under another name first. If a crash or a full disk left half
 * of it, missing parts are made again; unreadable parts are moved away with a note.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { RunGit } from './program.js';
import { isId, readSmallFile } from './place.js';

export const HISTORY_REF = 'refs/heads/main';

export function historyFolder(root: string): string {
  return path.join(root, '.guild', 'history.git');
}

/** Creates the repository if it is missing, and its missing parts if it is not complete. */
export function makeRepository(gitDir: string): void {
  if (isComplete(gitDir)) return;
  fs.mkdirSync(path.dirname(gitDir), { recursive: true, mode: 0o700 });
  if (fs.existsSync(gitDir)) return fill(gitDir);
  const temp = `${gitDir}.${randomBytes(6).toString('hex')}.tmp`;
  fill(temp);
  try {
    fs.renameSync(temp, gitDir);
  } catch (error) {
    fs.rmSync(temp, { recursive: true, force: true });
    if (!isComplete(gitDir)) throw error; // otherwise another process was first
  }
}

function isComplete(gitDir: string): boolean {
  return (
    PARTS.every((part) => fs.existsSync(path.join(gitDir, part))) &&
    readSmallFile(path.join(gitDir, 'HEAD')) === HEAD &&
    readSmallFile(path.join(gitDir, 'config')) === CONFIG
  );
}

const PARTS = ['objects', 'refs'];
const HEAD = `ref: ${HISTORY_REF}\n`;
const CONFIG = [
  '# Written by Guildhall. The trees of history are by time, so `git status` is of no use here.',
  '[core]',
  '\trepositoryformatversion = 0',
  '\tbare = false',
  '\tworktree = ../..',
  '\tlogAllRefUpdates = true',
  '\thooksPath = /dev/null',
  '[gc]',
  '\tauto = 0',
  '',
].join('\n');

function fill(gitDir: string): void {
  for (const part of PARTS) fs.mkdirSync(path.join(gitDir, part), { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(gitDir, 'HEAD'), HEAD);
  fs.writeFileSync(path.join(gitDir, 'config'), CONFIG);
}

/** A person's `git status` does not show the private folder, in whatever repository it is. */
export function hideFromGit(root: string): void {
  const file = path.join(root, '.guild', '.gitignore');
  if (fs.existsSync(file)) return;
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  fs.writeFileSync(file, '*\n');
}

/**
 * The newest commit; undefined if there is none. A reference that a power cut emptied is restored
 * from git's own log of it. Throws if the repository cannot be read.
 */
export async function readTip(gitDir: string, run: RunGit): Promise<string | undefined> {
  const file = path.join(gitDir, HISTORY_REF);
  const id = readSmallFile(file)?.trim() ?? '';
  if (isId(id)) return id;
  if (id === '' && !hasObjects(gitDir)) {
    fs.rmSync(file, { force: true });
    return undefined;
  }
  const asked = (await run(['rev-parse', '--verify', '-q', HISTORY_REF])).out.trim();
  if (isId(asked)) return asked;
  const lines = (readSmallFile(path.join(gitDir, 'logs', HISTORY_REF), 16 * 1024 * 1024) ?? '').split('\n');
  for (const line of lines.reverse().slice(0, 50)) {
    const logged = line.split(' ')[1] ?? '';
    if (!isId(logged) || !(await isReadable(run, logged))) continue;
    fs.rmSync(file, { force: true });
    if ((await run(['update-ref', HISTORY_REF, logged])).code === 0) return logged;
  }
  throw new Error('the newest commit is not known');
}

export async function isReadable(run: RunGit, commit: string): Promise<boolean> {
  return (await run(['ls-tree', '-r', '-t', commit])).code === 0;
}

function hasObjects(gitDir: string): boolean {
  const pack = path.join(gitDir, 'objects', 'pack');
  return fs.existsSync(pack) && fs.readdirSync(pack).some((name) => name.endsWith('.pack'));
}

/** Moves a repository that cannot be read out of the way; returns its new name. */
export function setAside(gitDir: string, why: string, now: Date): string {
  const aside = `${gitDir}.broken-${now.toISOString().replaceAll(/[:.]/g, '-')}`;
  fs.renameSync(gitDir, aside);
  fs.writeFileSync(
    `${aside}.txt`,
    `Guildhall could not read this history and began a new one. Nothing else was lost.\nReason: ${why}\n` +
      `git --git-dir=${path.basename(aside)} fsck says what is damaged. You may delete it.\n`,
  );
  return aside;
}
