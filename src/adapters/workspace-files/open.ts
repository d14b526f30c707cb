/**
 * Opens files without a gap between check and use. Folders are opened part by part from the root
 * and never through a link, so swapping a folder for a link makes the walk fail. Node has no
 * openat, so Linux uses `/proc/self/fd/N/name`; other systems use the plain path and check it again
 * afterwards.
 */
import fs from 'node:fs';
import { kindOf, type PlaceKind } from './locate.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = fs.constants;
/** Linux: a descriptor of the location only; needs no read permission. */
const O_PATH = 0o10000000;

export interface OpenFolder {
  path: string;
  /** A path to this folder, or to a name in it, that stays valid after renames. */
  at(name?: string): string;
  /** True if the folder is still at the path where it was opened. */
  isThere(): boolean;
  /**
   * Whether a name in this folder is this file, and the folder is still in its place. Without
   * descriptors, both are checked alternately many times: an attacker would have to swap the folder
   * in step with every check.
   */
  holds(name: string, file: { ino: number; dev: number }): boolean;
  close(): void;
}

interface OpenFile {
  fd: number;
  kind: PlaceKind;
  size: number;
  mode: number;
  /**
   * Call after reading. While a second hard link is being removed, its name may still lead to the
   * file although the link count is already lower. Two checks with a read in between exclude that.
   */
  isStill(): boolean;
}

export interface WalkRoot {
  path: string;
  /** Whether folders can be walked by `/proc/self/fd`. */
  byDescriptor: boolean;
}

export function walkRoot(root: string, walk?: 'descriptor' | 'path'): WalkRoot {
  const real = fs.realpathSync(root);
  return { path: real, byDescriptor: walk !== 'path' && process.platform === 'linux' && descriptorsShowPaths(real) };
}

/** Throws ENOENT, ENOTDIR or ELOOP if a part is missing or has become a link. */
function openFolder(base: WalkRoot, parts: readonly string[]): OpenFolder {
  let folder = openRoot(base);
  for (const part of parts) folder = step(folder, () => openBelow(base, folder, part));
  return mustBeThere(folder);
}

export function inFolder<T>(base: WalkRoot, parts: readonly string[], use: (folder: OpenFolder) => T): T {
  const folder = openFolder(base, parts);
  try {
    return use(folder);
  } finally {
    folder.close();
  }
}

export function inFile<T>(base: WalkRoot, parts: readonly string[], use: (file: OpenFile) => T): T {
  return inFolder(base, parts.slice(0, -1), (folder) => {
    const file = openFile(folder, parts.at(-1)!);
    try {
      return use(file);
    } finally {
      fs.closeSync(file.fd);
    }
  });
}

/** Like `openFolder`, but creates missing parts. */
export async function makeFolders(
  base: WalkRoot,
  parts: readonly string[],
  make: (path: string, parent: string) => Promise<void>,
): Promise<{ folder: OpenFolder; created: number }> {
  let folder = openRoot(base);
  let created = 0;
  for (const part of parts) {
    try {
      if (fs.lstatSync(folder.at(part), { throwIfNoEntry: false }) === undefined) {
        await make(folder.at(part), folder.at());
        created++;
      }
    } catch (error) {
      folder.close();
      throw error;
    }
    folder = step(folder, () => openBelow(base, folder, part));
  }
  return { folder: mustBeThere(folder), created };
}

/** Opens a name in a folder for reading. Never follows a link and never blocks on a FIFO. */
function openFile(folder: OpenFolder, name: string): OpenFile {
  const fd = fs.openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const opened = fs.fstatSync(fd);
    // Check the name again: a second hard link may have been removed since it was opened.
    const stat = fs.lstatSync(folder.at(name));
    if (stat.ino !== opened.ino || stat.dev !== opened.dev || !folder.holds(name, opened)) throw changed();
    const kind = kindOf(stat);
    const isStill = (): boolean => {
      const now = fs.lstatSync(folder.at(name), { throwIfNoEntry: false });
      return now !== undefined && kindOf(now) === kind && folder.holds(name, opened);
    };
    return { fd, kind, size: stat.size, mode: stat.mode & 0o777, isStill };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** Reads at most `maxBytes` from the start. */
export function readHead(fd: number, size: number, maxBytes: number): Buffer {
  const bytes = Buffer.alloc(Math.min(size, maxBytes));
  let done = 0;
  while (done < bytes.length) {
    const n = fs.readSync(fd, bytes, done, bytes.length - done, done);
    if (n === 0) break;
    done += n;
  }
  return bytes.subarray(0, done);
}

function openRoot(base: WalkRoot): OpenFolder {
  return base.byDescriptor ? byDescriptor(fs.openSync(base.path, O_PATH | O_DIRECTORY), base.path) : byPath(base.path);
}

function openBelow(base: WalkRoot, folder: OpenFolder, part: string): OpenFolder {
  const path = `${folder.path === '/' ? '' : folder.path}/${part}`;
  if (base.byDescriptor) {
    return byDescriptor(fs.openSync(folder.at(part), O_PATH | O_DIRECTORY | O_NOFOLLOW), path);
  }
  if (!fs.lstatSync(path).isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
  return byPath(path);
}

/** The parent is closed whether or not the step succeeds. */
function step(from: OpenFolder, open: () => OpenFolder): OpenFolder {
  try {
    return open();
  } finally {
    from.close();
  }
}

function byDescriptor(fd: number, path: string): OpenFolder {
  const at = (name = '.'): string => `/proc/self/fd/${fd}/${name}`;
  const isThere = (): boolean => fs.readlinkSync(`/proc/self/fd/${fd}`) === path;
  return {
    path,
    at,
    isThere,
    holds: (name, file) => isFile(at(name), file) && isThere(),
    close: () => fs.closeSync(fd),
  };
}

const LOOKS = 12;

function byPath(path: string): OpenFolder {
  const at = (name?: string): string => (name === undefined ? path : `${path}/${name}`);
  const isThere = (): boolean => fs.realpathSync(path) === path;
  const holds: OpenFolder['holds'] = (name, file) => {
    for (let look = 0; look < LOOKS; look++) if (!isFile(at(name), file) || !isThere()) return false;
    return true;
  };
  return { path, at, isThere, holds, close: () => {} };
}

function isFile(path: string, { ino, dev }: { ino: number; dev: number }): boolean {
  const now = fs.lstatSync(path, { throwIfNoEntry: false });
  return now?.ino === ino && now.dev === dev;
}

function mustBeThere(folder: OpenFolder): OpenFolder {
  if (folder.isThere()) return folder;
  folder.close();
  throw changed();
}

function changed(): Error {
  return Object.assign(new Error('it was moved while it was being opened'), { code: 'ELOOP' });
}

function descriptorsShowPaths(root: string): boolean {
  let fd: number | undefined;
  try {
    fd = fs.openSync(root, O_PATH | O_DIRECTORY);
    return fs.readlinkSync(`/proc/self/fd/${fd}`) === root;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}
