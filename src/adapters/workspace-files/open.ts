/**
 * Opens places of the workspace without a gap between check and use. A folder is reached part by part from the root,
 * each part opened relative to the one before and never through a link, so swapping a folder for a link in mid-walk makes
 * the walk fail instead of leading it astray. Node has no openat: `/proc/self/fd/N/name` does the same on Linux. Elsewhere
 * the plain path is used and looked at again after opening.
 */
import fs from 'node:fs';
import { kindOf, type PlaceKind } from './locate.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = fs.constants;
/** Linux: a handle on the place only; needs no right to read it. */
const O_PATH = 0o10000000;

export interface OpenFolder {
  /** Where it was when opened. */
  path: string;
  /** A path that leads to this very folder, or to a name in it, whatever was renamed since. */
  at(name?: string): string;
  /** Whether the folder still lies where it was opened. */
  isThere(): boolean;
  close(): void;
}

interface OpenFile {
  fd: number;
  kind: PlaceKind;
  size: number;
  mode: number;
  /**
   * Asked after the use. While a second link is being taken away, there is an instant in which its name still leads to the file
   * and the file already counts one link less: one look can fall into it, two with a read in between cannot.
   */
  isStill(): boolean;
}

export interface Ground {
  root: string;
  /** Whether descriptors can be walked by `/proc/self/fd`. */
  byDescriptor: boolean;
}

export function groundAt(root: string, walk?: 'descriptor' | 'path'): Ground {
  const real = fs.realpathSync(root);
  return { root: real, byDescriptor: walk !== 'path' && process.platform === 'linux' && descriptorsShowPaths(real) };
}

/** Throws ENOENT, ENOTDIR or ELOOP where a part is missing or became a link. */
export function openFolder(ground: Ground, parts: readonly string[]): OpenFolder {
  let folder = openRoot(ground);
  for (const part of parts) folder = step(folder, () => openBelow(ground, folder, part));
  return mustBeThere(folder);
}

/** As `openFolder`, and makes the parts that are missing. */
export async function makeFolders(
  ground: Ground,
  parts: readonly string[],
  make: (path: string, parent: string) => Promise<void>,
): Promise<{ folder: OpenFolder; made: number }> {
  let folder = openRoot(ground);
  let made = 0;
  for (const part of parts) {
    try {
      if (fs.lstatSync(folder.at(part), { throwIfNoEntry: false }) === undefined) {
        await make(folder.at(part), folder.at());
        made++;
      }
    } catch (error) {
      folder.close();
      throw error;
    }
    folder = step(folder, () => openBelow(ground, folder, part));
  }
  return { folder: mustBeThere(folder), made };
}

/** A name in an open folder, for reading: no link, no waiting on a FIFO, and what it is told from the descriptor itself. */
export function openFile(folder: OpenFolder, name: string): OpenFile {
  const fd = fs.openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const opened = fs.fstatSync(fd);
    // The name is looked at again: a second link to the file could have been taken away since it was opened.
    const stat = fs.lstatSync(folder.at(name));
    if (stat.ino !== opened.ino || stat.dev !== opened.dev || !folder.isThere()) throw changed();
    const kind = kindOf(stat);
    const isStill = (): boolean => {
      const now = fs.lstatSync(folder.at(name), { throwIfNoEntry: false });
      return now?.ino === opened.ino && now.dev === opened.dev && kindOf(now) === kind;
    };
    return { fd, kind, size: stat.size, mode: stat.mode & 0o777, isStill };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** At most `maxBytes` from the start. */
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

function openRoot(ground: Ground): OpenFolder {
  return ground.byDescriptor
    ? byDescriptor(fs.openSync(ground.root, O_PATH | O_DIRECTORY), ground.root)
    : byPath(ground.root);
}

function openBelow(ground: Ground, folder: OpenFolder, part: string): OpenFolder {
  const path = `${folder.path === '/' ? '' : folder.path}/${part}`;
  if (ground.byDescriptor) {
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
  return {
    path,
    at: (name = '.') => `/proc/self/fd/${fd}/${name}`,
    isThere: () => fs.readlinkSync(`/proc/self/fd/${fd}`) === path,
    close: () => fs.closeSync(fd),
  };
}

function byPath(path: string): OpenFolder {
  return {
    path,
    at: (name) => (name === undefined ? path : `${path}/${name}`),
    isThere: () => fs.realpathSync(path) === path,
    close: () => {},
  };
}

function mustBeThere(folder: OpenFolder): OpenFolder {
  if (folder.isThere()) return folder;
  folder.close();
  throw changed();
}

function changed(): Error {
  return Object.assign(new Error('it moved while it was opened'), { code: 'ELOOP' });
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
