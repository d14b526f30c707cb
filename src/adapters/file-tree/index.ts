/**
 * The files of a folder as they can be put elsewhere: each look tells what is different since the last one. Left out are what another
 * machine or process could not use (Git's own folders, packages, peers that live, half-done writes) and what must not leave the
 * house (secrets).
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { FileState, LeftOut } from '../../domain/session/cassette.js';
import { problem, ProblemError } from '../../domain/problem.js';

export interface Tree {
  /** What is different since the last look; the first one tells everything. In order of the paths. Throws if it is too much. */
  look(): FileState[];
  /** As of the last look: the sha256 of each file's bytes, of a link's target, or `folder`. */
  digests(): Record<string, string>;
  leftOut(): LeftOut[];
}

export interface TreeGiven {
  root: string;
  /** Why this file is not to be kept. */
  secret: (file: string) => string | undefined;
  maxBytes?: number;
}

export const MAX_TREE_BYTES = 64 * 1024 * 1024;

/** A cassette that is being written, in the workspace it is about, begins like this. */
export const RECORDING = '.guild/recording-';
const NOT_HERE = new Set(['agents/live', '.guild/tmp', '.guild/torn', '.guild/git']);
/** A claim whose task has ended is taken away a moment later, while others already work. */
const PASSING = /^tasks\/active\/.*\.leaving$/;
const NOT_OURS = new Map([
  ['.git', 'Git keeps it'],
  ['node_modules', 'it holds packages'],
]);

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
      if (!left.has(file)) bytes += Number(stat.size);
      if (bytes > maxBytes) throw new ProblemError(tooMuch(file, stat.size));
      const state = stateOf(file, stat);
      if (state === undefined) continue;
      const digest = digestOf(state);
      now.set(file, { stamp, digest });
      if (before?.digest !== digest) changes.push(state);
    }
    for (const file of known.keys()) {
      // A folder that is no longer told may only have something in it now.
      const isFull = file.endsWith('/') && fs.existsSync(path.join(root, file));
      if (!now.has(file) && !isFull) changes.push({ file, gone: true });
    }
    known = now;
    return changes;
  }

  function* walk(folder: string): Generator<[string, fs.BigIntStats]> {
    const names = namesIn(path.join(root, folder));
    let empty = true;
    for (const name of names) {
      const file = folder === '' ? name : `${folder}/${name}`;
      if (NOT_HERE.has(file) || PASSING.test(file) || file.startsWith(RECORDING)) continue;
      const stat = fs.lstatSync(path.join(root, file), { bigint: true, throwIfNoEntry: false });
      if (stat === undefined) continue;
      empty = false;
      const why = secret(file) ?? NOT_OURS.get(name) ?? oddity(file, stat);
      if (why !== undefined) left.set(file, why);
      if (stat.isDirectory() && why === undefined) yield* walk(file);
      else if (stat.isDirectory()) yield [`${file}/`, stat];
      else if (why === undefined || stat.isFile()) yield [file, stat];
    }
    const itself = fs.lstatSync(path.join(root, folder), { bigint: true, throwIfNoEntry: false });
    if (empty && folder !== '' && itself !== undefined) yield [`${folder}/`, itself];
  }

  function oddity(file: string, stat: fs.BigIntStats): string | undefined {
    if (stat.isDirectory() || stat.isFile()) return undefined;
    if (!stat.isSymbolicLink()) return 'it is no regular file';
    const full = path.join(root, file);
    return isBelow(root, path.resolve(path.dirname(full), fs.readlinkSync(full))) ? undefined : 'it leads outside';
  }

  /** Undefined if it went away meanwhile. */
  function stateOf(file: string, stat: fs.BigIntStats): FileState | undefined {
    if (stat.isDirectory()) return { file, folder: true };
    const full = path.join(root, file);
    if (left.has(file)) return { file, bytes: Number(stat.size) };
    if (stat.isSymbolicLink()) return { file, link: fs.readlinkSync(full) };
    const bytes = readIfThere(full);
    if (bytes === undefined) return undefined;
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

function readIfThere(file: string): Buffer | undefined {
  try {
    return fs.readFileSync(file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function namesIn(folder: string): string[] {
  return fs.existsSync(folder) ? fs.readdirSync(folder).sort() : [];
}

export function digestOf({ text, base64, link, bytes: size }: FileState): string {
  if (size !== undefined) return `left out, ${size} bytes`;
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
      else fs.writeFileSync(full, contentOf(state));
      if (state.executable) fs.chmodSync(full, 0o755);
    }
  }
}

/** Blanks where it was left out what the file says. */
function contentOf({ text, base64 = '', bytes }: FileState): string | Buffer {
  if (bytes !== undefined) return Buffer.alloc(Math.min(bytes, MAX_TREE_BYTES), ' ');
  return text ?? Buffer.from(base64, 'base64');
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
  if (!stat.isDirectory()) return fs.rmSync(full, { force: true });
  if (fs.readdirSync(full).length === 0) fs.rmdirSync(full);
}
