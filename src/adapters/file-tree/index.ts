/**
 * Snapshots a folder for a cassette; each call returns what changed since the last one. It leaves
 * out files that another machine or process cannot use (Git folders, packages, running peers,
 * temporary files) and secrets, which must not leave this machine.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { FileState, LeftOut } from '../../domain/session/cassette.js';
import { problem, ProblemError, problemError } from '../../domain/problem.js';

interface FileTree {
  /**
   * Changes since the last call, ordered by path; at first, every file. Throws if they are too
   * large.
   */
  look(): FileState[];
  /** As of the last look: the sha256 of each file, `link <target>`, or `folder`. */
  digests(): Record<string, string>;
  leftOut(): LeftOut[];
}

interface FileTreeOptions {
  root: string;
  /** Why this file must be left out; undefined if it need not be. */
  secret: (file: string) => string | undefined;
  maxBytes?: number;
}

const MAX_TREE_BYTES = 64 * 1024 * 1024;

/** Prefix of a cassette that is being written inside the workspace it records. */
export const RECORDING = '.guild/recording-';
const PROCESS_FOLDERS = new Set(['agents/live', '.guild/tmp', '.guild/torn', '.guild/git']);
/** Claims of settled tasks, which are removed a moment later. */
const LEAVING_CLAIM = /^tasks\/active\/.*\.leaving$/;
const FOREIGN_FOLDERS = new Map([
  ['.git', "it is Git's own folder"],
  ['node_modules', 'it contains packages'],
]);

interface SeenFile {
  stamp: string;
  digest: string;
}

export function fileTree({ root, secret, maxBytes = MAX_TREE_BYTES }: FileTreeOptions): FileTree {
  let seen = new Map<string, SeenFile>();
  /** Path → why it is left out. */
  let omitted = new Map<string, string>();

  return {
    look,
    digests: () => Object.fromEntries([...seen].map(([file, { digest }]) => [file, digest])),
    leftOut: () => [...omitted].map(([file, why]) => ({ file, why })),
  };

  function look(): FileState[] {
    const now = new Map<string, SeenFile>();
    omitted = new Map();
    const changes: FileState[] = [];
    let bytes = 0;
    for (const [file, stat] of walk('')) {
      const stamp = `${stat.mode}.${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`;
      const before = seen.get(file);
      if (before?.stamp === stamp) {
        now.set(file, before);
        continue;
      }
      if (!omitted.has(file)) bytes += Number(stat.size);
      if (bytes > maxBytes) throw new ProblemError(tooMuch(file, stat.size));
      const state = stateOf(file, stat);
      if (state === undefined) continue;
      const digest = digestOf(state);
      now.set(file, { stamp, digest });
      if (before?.digest !== digest) changes.push(state);
    }
    for (const file of seen.keys()) {
      // Only empty folders are listed, so a folder that is missing here may have files now.
      const isFilledFolder = file.endsWith('/') && fs.existsSync(path.join(root, file));
      if (!now.has(file) && !isFilledFolder) changes.push({ file, gone: true });
    }
    seen = now;
    return changes;
  }

  function* walk(folder: string): Generator<[string, fs.BigIntStats]> {
    const names = namesIn(path.join(root, folder));
    let empty = true;
    for (const name of names) {
      const file = folder === '' ? name : `${folder}/${name}`;
      if (PROCESS_FOLDERS.has(file) || LEAVING_CLAIM.test(file) || file.startsWith(RECORDING)) continue;
      const stat = fs.lstatSync(path.join(root, file), { bigint: true, throwIfNoEntry: false });
      if (stat === undefined) continue;
      empty = false;
      const why = secret(file) ?? FOREIGN_FOLDERS.get(name) ?? oddity(file, stat);
      if (why !== undefined) omitted.set(file, why);
      if (stat.isDirectory() && why === undefined) yield* walk(file);
      else if (stat.isDirectory()) yield [`${file}/`, stat];
      else if (why === undefined || stat.isFile()) yield [file, stat];
    }
    const itself = fs.lstatSync(path.join(root, folder), { bigint: true, throwIfNoEntry: false });
    if (empty && folder !== '' && itself !== undefined) yield [`${folder}/`, itself];
  }

  function oddity(file: string, stat: fs.BigIntStats): string | undefined {
    if (stat.isDirectory() || stat.isFile()) return undefined;
    if (!stat.isSymbolicLink()) return 'it is not a regular file';
    const full = path.join(root, file);
    const target = path.resolve(path.dirname(full), fs.readlinkSync(full));
    return isBelow(root, target) ? undefined : 'it is a link to outside the workspace';
  }

  function stateOf(file: string, stat: fs.BigIntStats): FileState | undefined {
    if (stat.isDirectory()) return { file, folder: true };
    const full = path.join(root, file);
    if (omitted.has(file)) return { file, bytes: Number(stat.size) };
    if (stat.isSymbolicLink()) return { file, link: fs.readlinkSync(full) };
    const bytes = readIfThere(full);
    if (bytes === undefined) return undefined;
    const text = bytes.toString('utf8');
    const content = Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString('base64') };
    return { file, ...content, ...((stat.mode & 0o100n) === 0n ? {} : { executable: true as const }) };
  }

  function tooMuch(file: string, size: bigint): ReturnType<typeof problem> {
    const mb = Math.round(maxBytes / 1024 / 1024);
    return problem('over_limit', `the files of this workspace exceed the ${mb} MiB limit of a cassette`, {
      where: { file },
      hint: `this file has ${size} bytes; record in a copy of the workspace without files the run does not need`,
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

function digestOf({ text, base64, link, bytes: size }: FileState): string {
  if (size !== undefined) return `left out, ${size} bytes`;
  if (link !== undefined) return `link ${link}`;
  if (text === undefined && base64 === undefined) return 'folder';
  const bytes = text === undefined ? Buffer.from(base64!, 'base64') : text;
  return createHash('sha256').update(bytes).digest('hex');
}

/** Writes these states to the folder. Refuses paths that would leave it. */
export function putFiles(root: string, states: readonly FileState[]): void {
  for (const state of states) {
    const full = path.resolve(root, state.file);
    if (!isBelow(root, full) || leadsOut(root, path.dirname(full), state.link))
      throw problemError('not_allowed', `${state.file} would be written outside the folder`);
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

/** The content of the file; spaces of the same length if it was left out. */
function contentOf({ text, base64 = '', bytes }: FileState): string | Buffer {
  if (bytes !== undefined) return Buffer.alloc(Math.min(bytes, MAX_TREE_BYTES), ' ');
  return text ?? Buffer.from(base64, 'base64');
}

/** Cassettes are untrusted: never write through a link that leaves the folder. */
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
