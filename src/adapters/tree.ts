/**
 * The files of a folder as they can be put elsewhere: each look tells what is different since the last one. Left out are what another
 * machine or process could not use (Git's own folders, packages, peers that live, half-done writes) and what must not leave the
 * house (secrets).
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { FileState } from '../domain/cassette.js';
import { problem, ProblemError } from '../domain/problem.js';

export interface Tree {
  /** What is different since the last look; the first one tells everything. In order of the paths. Throws if it is too much. */
  look(): FileState[];
  /** As of the last look: the sha256 of each file's bytes, of a link's target, or `folder`. */
  digests(): Record<string, string>;
  leftOut(): { file: string; why: string }[];
}

export interface TreeGiven {
  root: string;
  /** Why this file is not to be kept. */
  secret: (file: string) => string | undefined;
  maxBytes?: number;
}

export const MAX_TREE_BYTES = 64 * 1024 * 1024;

const NEVER = new Set(['.git', 'node_modules']);
const NOT_HERE = new Set(['agents/live', '.guild/tmp', '.guild/torn', '.guild/git']);

interface Known {
  stamp: string;
  digest: string;
}

export function tree({ root, secret, maxBytes = MAX_TREE_BYTES }: TreeGiven): Tree {
  let known = new Map<string, Known>();
  let left = new Map<string, string>();

  return {
    look,
    digests: () => Object.fromEntries([...known].map(([file, { digest }]) => [file, digest])),
    leftOut: () => [...left].map(([file, why]) => ({ file, why })),
  };

  function look(): FileState[] {
    const now = new Map<string, Known>();
    left = new Map();
    const changes: FileState[] = [];
    let bytes = 0;
    for (const [file, stat] of walk('')) {
      const stamp = `${stat.mode}.${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`;
      const before = known.get(file);
      if (before?.stamp === stamp) {
        now.set(file, before);
        continue;
      }
      bytes += Number(stat.size);
      if (bytes > maxBytes) throw new ProblemError(tooMuch(file, stat.size));
      const state = stateOf(file, stat);
      const digest = digestOf(state);
      now.set(file, { stamp, digest });
      if (before?.digest !== digest) changes.push(state);
    }
    for (const file of known.keys()) if (!now.has(file)) changes.push({ file, gone: true });
    known = now;
    return changes;
  }

  function* walk(folder: string): Generator<[string, fs.BigIntStats]> {
    const names = fs.readdirSync(path.join(root, folder)).sort();
    let empty = true;
    for (const name of names) {
      const file = folder === '' ? name : `${folder}/${name}`;
      if (NEVER.has(name) || NOT_HERE.has(file)) continue;
      const stat = fs.lstatSync(path.join(root, file), { bigint: true, throwIfNoEntry: false });
      if (stat === undefined) continue;
      empty = false;
      const why = secret(file) ?? oddity(file, stat);
      if (why !== undefined) left.set(file, why);
      else if (stat.isDirectory()) yield* walk(file);
      else yield [file, stat];
    }
    if (empty && folder !== '') yield [`${folder}/`, fs.lstatSync(path.join(root, folder), { bigint: true })];
  }

  function oddity(file: string, stat: fs.BigIntStats): string | undefined {
    if (stat.isDirectory() || stat.isFile()) return undefined;
    if (!stat.isSymbolicLink()) return 'it is no regular file';
    const full = path.join(root, file);
    return isBelow(root, path.resolve(path.dirname(full), fs.readlinkSync(full))) ? undefined : 'it leads outside';
  }

  function stateOf(file: string, stat: fs.BigIntStats): FileState {
    if (stat.isDirectory()) return { file, folder: true };
    const full = path.join(root, file);
    if (stat.isSymbolicLink()) return { file, link: fs.readlinkSync(full) };
    const bytes = fs.readFileSync(full);
    const text = bytes.toString('utf8');
    const content = Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString('base64') };
    return { file, ...content, ...((stat.mode & 0o100n) === 0n ? {} : { executable: true as const }) };
  }

  function tooMuch(file: string, size: bigint): ReturnType<typeof problem> {
    const mb = Math.round(maxBytes / 1024 / 1024);
    return problem('over_limit', `the files of this workspace are more than the ${mb} MiB that a cassette holds`, {
      where: { file },
      hint: `this file has ${size} bytes; record in a copy of the workspace without what the run does not need`,
    });
  }
}

export function digestOf({ text, base64, link }: FileState): string {
  if (link !== undefined) return `link ${link}`;
  if (text === undefined && base64 === undefined) return 'folder';
  const bytes = text === undefined ? Buffer.from(base64!, 'base64') : text;
  return createHash('sha256').update(bytes).digest('hex');
}

/** Makes the folder's files be like this. Paths that would leave the folder are refused. */
export function putFiles(root: string, states: readonly FileState[]): void {
  for (const state of states) {
    const full = path.resolve(root, state.file);
    if (!isBelow(root, full) || leadsOut(root, path.dirname(full), state.link))
      throw new ProblemError(problem('not_allowed', `${state.file} would lie outside of the folder`));
    if (state.gone) remove(full);
    else if (state.folder) fs.mkdirSync(full, { recursive: true });
    else {
      fs.mkdirSync(path.dirname(full), { recursive: true });
      if (fs.lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink() || state.link !== undefined)
        fs.rmSync(full, { force: true });
      if (state.link !== undefined) fs.symlinkSync(state.link, full);
      else fs.writeFileSync(full, state.text ?? Buffer.from(state.base64 ?? '', 'base64'));
      if (state.executable) fs.chmodSync(full, 0o755);
    }
  }
}

/** A cassette may come from anybody: nothing of it is written through a link that leads away. */
function leadsOut(root: string, folder: string, link: string | undefined): boolean {
  if (link !== undefined && !isBelow(root, path.resolve(folder, link))) return true;
  let at = folder;
  while (!fs.existsSync(at)) at = path.dirname(at);
  const real = fs.realpathSync(at);
  const home = fs.realpathSync(root);
  return real !== home && !isBelow(home, real);
}

function isBelow(folder: string, file: string): boolean {
  return file.startsWith(folder + path.sep);
}

function remove(full: string): void {
  const stat = fs.lstatSync(full, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) return fs.rmSync(full);
  // An empty folder is also told as gone when something came into it.
  if (fs.readdirSync(full).length === 0) fs.rmdirSync(full);
}
