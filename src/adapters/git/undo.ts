/**
 * Undo: lists the files that differ from an old commit and restores them. Event records and
 * incoming messages are left alone, and so is every file that history does not cover.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type ProblemError, problemError } from '../../domain/problem.js';
import type { FileChange, OldContent } from '../../ports/history.js';
import { isCovered, pathInWorkspace, staysAfterUndo } from './changes/covered.js';
import { readNow, statNow } from './changes/files-now.js';
import { must, type RunGit } from './repository/program.js';
import { blobId } from './repository/target.js';

export interface OldFile {
  id: string;
  mode: string;
}

export interface OldCommit {
  id: string;
  run: RunGit;
}

/** The files of a commit that an undo may touch, by their path in the workspace. */
export async function filesAt({ id, run }: OldCommit): Promise<Map<string, OldFile>> {
  const { out } = must(await run(['ls-tree', '-r', '-z', id]));
  const files = new Map<string, OldFile>();
  for (const line of out.split('\0')) {
    const [, mode, blob, inHistory] = /^(\d+) blob ([0-9a-f]+)\t([^]+)$/.exec(line) ?? [];
    if (inHistory === undefined) continue;
    const name = pathInWorkspace(inHistory);
    if (!staysAfterUndo(name)) files.set(name, { id: blob!, mode: mode! });
  }
  return files;
}

/** The changes that restoring these files would make. `names`: the files that may differ. */
export function differences(
  root: string,
  files: ReadonlyMap<string, OldFile>,
  names: Iterable<string>,
  mayTouch: (name: string) => boolean,
): FileChange[] {
  const changes: FileChange[] = [];
  for (const name of [...new Set(names)].sort()) {
    if (staysAfterUndo(name) || !(isCovered(name) || mayTouch(name))) continue;
    const old = files.get(name);
    const now = readNow(path.join(root, name));
    if (now.kind === 'left_out') continue;
    if (now.kind === 'missing') {
      if (old !== undefined) changes.push({ path: name, change: 'brought back' });
    } else if (old === undefined) changes.push({ path: name, change: 'taken away' });
    else if (blobId(now.bytes, old.id.length === 64 ? 'sha256' : 'sha1') !== old.id)
      changes.push({ path: name, change: 'changed' });
  }
  const gone = new Set(changes.flatMap(({ path: name }) => (files.has(name) ? [] : [name])));
  return changes.filter(({ path: name }) => !isBehindLink(root, name, files, gone));
}

/**
 * True if a path above this file is a link, or a file of the old commit, which may be a link.
 * Writing the file could then follow the link out of the workspace. `gone`: names that the undo
 * removes first.
 */
function isBehindLink(
  root: string,
  name: string,
  files: ReadonlyMap<string, OldFile>,
  gone: ReadonlySet<string>,
): boolean {
  for (const folder of foldersAbove(name)) {
    if (gone.has(folder)) return false;
    if (files.has(folder) || isLink(root, folder)) return true;
  }
  return false;
}

/** Outermost first. */
function foldersAbove(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, n) => parts.slice(0, n + 1).join('/'));
}

function isLink(root: string, name: string): boolean {
  const stat = statNow(path.join(root, name));
  return stat !== 'unreadable' && stat?.isSymbolicLink() === true;
}

/** More files or longer ones are listed without their texts. */
const TEXTS_MAX = 60;
const TEXT_BYTES_MAX = 128 * 1024;

/** Adds to each change the text that the file has now and the text that it would have. */
export async function withTexts(
  run: RunGit,
  root: string,
  files: ReadonlyMap<string, OldFile>,
  changes: readonly FileChange[],
): Promise<FileChange[]> {
  const first = changes.slice(0, TEXTS_MAX);
  const old = first.flatMap(({ path: name }) => files.get(name)?.id ?? []);
  const blobs = await readBlobs(run, old);
  return changes.map((change, i) => {
    if (i >= TEXTS_MAX) return change;
    const now = readNow(path.join(root, change.path));
    const bytes = now.kind === 'file' ? now.bytes : Buffer.alloc(0);
    const then = files.has(change.path) ? blobs.shift()! : Buffer.alloc(0);
    return now.kind !== 'left_out' && isShortText(bytes) && isShortText(then)
      ? { ...change, texts: { now: bytes.toString('utf8'), then: then.toString('utf8') } }
      : change;
  });
}

function isShortText(bytes: Buffer): boolean {
  return bytes.length <= TEXT_BYTES_MAX && !bytes.includes(0);
}

/** Accepts an id or HEAD, with ~n, and nothing that could be an option or another branch. */
export async function resolveCommit(run: RunGit, to: string, head: string): Promise<string | undefined> {
  if (!/^(?:[0-9a-f]{4,64}|HEAD(?=[~^]))(?:[~^]\d{0,6}){0,20}$/.test(to)) return undefined;
  const result = await run(['rev-parse', '--verify', '-q', `${to.replace(/^HEAD/, head)}^{commit}`]);
  const id = result.out.trim();
  if (result.code !== 0 || (await run(['merge-base', '--is-ancestor', id, head])).code !== 0) return undefined;
  return id;
}

export function unknownCommit(to: string): ProblemError {
  return problemError('not_found', `unknown commit ${JSON.stringify(to)}`, { hint: 'guild log lists the commits' });
}

/** The content that the commit has for each changed file. */
export async function oldContents(
  run: RunGit,
  files: ReadonlyMap<string, OldFile>,
  changes: readonly FileChange[],
): Promise<OldContent[]> {
  const wanted = changes.flatMap(({ path: name }) => files.get(name) ?? []);
  const contents = await readBlobs(
    run,
    wanted.map(({ id }) => id),
  );
  return changes.map(({ path: name }) => {
    const old = files.get(name);
    return old === undefined ? { path: name } : { path: name, bytes: contents.shift()!, mode: old.mode };
  });
}

/** `nameAfter`: the name that a file gets instead of its old one. */
export function restoreFiles(root: string, files: readonly OldContent[], nameAfter: (name: string) => string): void {
  for (const { path: name, bytes } of files) if (bytes === undefined) fs.rmSync(inside(root, name), { force: true });
  for (const { path: name, bytes, mode = '100644' } of files)
    if (bytes !== undefined) place(inside(root, nameAfter(name)), bytes, mode);
}

/** A folder may have become a link since the changes were listed. */
function inside(root: string, name: string): string {
  const link = foldersAbove(name).find((folder) => isLink(root, folder));
  if (link === undefined) return path.join(root, name);
  throw problemError('not_allowed', `${link} is a link, so ${name} is outside the workspace and was not restored`, {
    where: { file: link },
    hint: 'remove the link, then undo again',
  });
}

function place(file: string, bytes: Buffer, mode: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const temp = path.join(path.dirname(file), `.guild-${randomBytes(9).toString('hex')}.tmp`);
  if (mode === '120000') fs.symlinkSync(bytes.toString('utf8'), temp);
  else fs.writeFileSync(temp, bytes, { mode: mode === '100755' ? 0o755 : 0o644 });
  fs.renameSync(temp, file);
}

async function readBlobs(run: RunGit, ids: readonly string[]): Promise<Buffer[]> {
  if (ids.length === 0) return [];
  const { bytes } = must(await run(['cat-file', '--batch'], { input: ids.map((id) => `${id}\n`).join('') }));
  const blobs: Buffer[] = [];
  for (let at = 0; blobs.length < ids.length;) {
    const end = bytes.indexOf('\n', at);
    const size = Number(/^[0-9a-f]+ blob (\d+)$/.exec(bytes.toString('utf8', at, end))?.[1] ?? NaN);
    if (Number.isNaN(size)) throw unknownCommit(ids[blobs.length]!);
    blobs.push(bytes.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return blobs;
}
