/**
 * The real file system. Reads and changes are synchronous calls on the page cache; only syncing goes to the thread pool,
 * and syncs of one file or folder that overlap share one (a sync that starts after a change covers it).
 */
import fs from 'node:fs';
import path from 'node:path';
import { stampText } from '../../domain/stamp.js';
import type { Disk, Read } from '../../ports/disk.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = fs.constants;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

export function disk(): Disk {
  const syncs = new Map<string, Shared>();
  const leaving = new Set<Promise<void>>();
  const own = new Map<string, number>();
  return {
    read: (file, maxBytes) => read(file, 0, maxBytes),
    readFrom: read,
    stamp(file) {
      const stat = statOf(file);
      return stat && stampOf(stat);
    },
    list(folder) {
      if (isStillAbsent(folder)) return [];
      try {
        return fs.readdirSync(folder);
      } catch (error) {
        if (isCode(error, 'ENOENT')) noteAbsent(folder);
        if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return [];
        throw error;
      }
    },
    create(file, bytes) {
      let fd: number;
      try {
        fd = fs.openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
      } catch (error) {
        if (isCode(error, 'EEXIST')) return false;
        throw error;
      }
      try {
        writeAll(fd, bytes);
      } finally {
        fs.closeSync(fd);
      }
      return true;
    },
    append(file, bytes) {
      const fd = fs.openSync(file, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
      try {
        writeAll(fd, bytes);
        return stampOf(fs.fstatSync(fd, { bigint: true }));
      } finally {
        fs.closeSync(fd);
      }
    },
    appendOwn(file, bytes) {
      let fd = own.get(file);
      if (fd === undefined) own.set(file, (fd = fs.openSync(file, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK)));
      writeAll(fd, bytes);
    },
    patch(file, offset, bytes) {
      const fd = fs.openSync(file, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
        fs.writeSync(fd, data, 0, data.length, offset);
        return stampOf(fs.fstatSync(fd, { bigint: true }));
      } finally {
        fs.closeSync(fd);
      }
    },
    rename(from, to) {
      try {
        fs.renameSync(from, to);
        return true;
      } catch (error) {
        if (isCode(error, 'ENOENT')) return false;
        throw error;
      }
    },
    link(from, to) {
      try {
        fs.linkSync(from, to);
        return true;
      } catch (error) {
        if (isCode(error, 'EEXIST')) return false;
        throw error;
      }
    },
    remove(file) {
      const open = own.get(file);
      if (open !== undefined && own.delete(file)) fs.closeSync(open);
      try {
        fs.unlinkSync(file);
        return true;
      } catch (error) {
        if (isCode(error, 'ENOENT')) return false;
        throw error;
      }
    },
    // Giving its blocks back may take as long as a sync.
    removeSoon(file) {
      const gone = new Promise<void>((resolve) => fs.unlink(file, () => resolve()));
      leaving.add(gone);
      void gone.then(() => leaving.delete(gone));
    },
    async removed() {
      await Promise.all(leaving);
    },
    makeFolder(folder, mode) {
      const first = makePath(folder, mode);
      if (first !== undefined) syncNow(path.dirname(first));
    },
    createSynced,
    sync: (file) => share(file, fs.fdatasync),
    syncNow,
    syncFolder: (folder) => share(folder, fs.fsync),
  };

  function share(file: string, how: SyncCall): Promise<void> {
    const under = syncs.get(file);
    if (under === undefined) return start(file, how);
    // The one under way may have begun before this caller's change: all who come now share the one after it.
    under.next ??= under.running.then(
      () => start(file, how),
      () => start(file, how),
    );
    return under.next;
  }

  function start(file: string, how: SyncCall): Promise<void> {
    const entry: Shared = { running: syncPath(file, how) };
    syncs.set(file, entry);
    const done = (): void => {
      if (entry.next === undefined && syncs.get(file) === entry) syncs.delete(file);
    };
    entry.running.then(done, done);
    return entry.running;
  }
}

type SyncCall = (fd: number, done: (error: NodeJS.ErrnoException | null) => void) => void;

interface Shared {
  running: Promise<void>;
  next?: Promise<void>;
}

/** Undefined if there is no such file; also if a file is where the path has a folder, as in `agents/LICENSE/agent.md`. */
function statOf(file: string): fs.BigIntStats | undefined {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false, bigint: true });
  } catch (error) {
    if (isCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** What was looked for and is not there: being thrown at costs ten times a look. */
const absent = new Set<string>();
const MOST_ABSENT = 100;

function isStillAbsent(file: string): boolean {
  if (!absent.has(file)) return false;
  if (statOf(file) === undefined) return true;
  absent.delete(file);
  return false;
}

function noteAbsent(file: string): void {
  if (absent.size < MOST_ABSENT) absent.add(file);
}

function read(file: string, from: number, maxBytes = DEFAULT_MAX_BYTES): Read {
  if (isStillAbsent(file)) return { kind: 'missing' };
  let fd: number;
  try {
    fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (isCode(error, 'ENOENT')) noteAbsent(file);
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return { kind: 'missing' };
    if (isCode(error, 'ELOOP')) return { kind: 'not_a_file', what: 'link' };
    if (isCode(error, 'ENXIO')) return { kind: 'not_a_file', what: 'socket or device' };
    throw error;
  }
  try {
    const stat = fs.fstatSync(fd, { bigint: true });
    if (!stat.isFile()) return { kind: 'not_a_file', what: kindOf(stat) };
    const size = Math.max(0, Number(stat.size) - from);
    if (size > maxBytes) return { kind: 'too_big', size: Number(stat.size) };
    return { kind: 'file', bytes: readAll(fd, from, size), stamp: stampOf(stat) };
  } finally {
    fs.closeSync(fd);
  }
}

/** Reads up to the size the file had when opened; a file that grows meanwhile changes its stamp and is read again. */
function readAll(fd: number, from: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  while (done < size) {
    const n = fs.readSync(fd, bytes, done, size - done, from + done);
    if (n === 0) break;
    done += n;
  }
  return done === size ? bytes : bytes.subarray(0, done);
}

function writeAll(fd: number, bytes: Uint8Array | string): void {
  const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  let done = 0;
  while (done < data.length) done += fs.writeSync(fd, data, done, data.length - done);
}

/**
 * Every write to it waits for the device, so that a file is written and synced by one call of a thread. Elsewhere than on Linux it is not there, or
 * leaves the bytes in the cache of the device (macOS), which a sync does not.
 */
const O_DSYNC = process.platform === 'linux' ? fs.constants.O_DSYNC : undefined;

async function createSynced(file: string, bytes: Uint8Array | string): Promise<void> {
  const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  const fd = await made(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | (O_DSYNC ?? 0));
  try {
    for (let from = 0; from < data.length;) from += await written(fd, data, from);
    if (O_DSYNC === undefined) await new Promise<void>((resolve, reject) => fs.fdatasync(fd, settle(resolve, reject)));
  } catch (error) {
    throw Object.assign(error as Error, { path: file });
  } finally {
    fs.closeSync(fd);
  }
}

/** Longer than this, making a file is left to a thread for a while. */
const SLOW_MS = 0.15;
const A_WHILE = 50;
let slowFor = 0;

/**
 * Making a file takes less than handing it to a thread, but not everywhere: ext4 without a journal looks at each file that was deleted lately before
 * it makes one, which takes half a millisecond. So it is tried, and measured.
 */
async function made(file: string, flags: number): Promise<number> {
  if (slowFor-- > 0) {
    return new Promise((resolve, reject) => {
      fs.open(file, flags, 0o644, (error, fd) => (error ? reject(error) : resolve(fd)));
    });
  }
  const from = performance.now();
  const fd = fs.openSync(file, flags, 0o644);
  slowFor = performance.now() - from > SLOW_MS ? A_WHILE : 0;
  return fd;
}

function written(fd: number, data: Uint8Array, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.write(fd, data, from, data.length - from, null, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

function settle(resolve: () => void, reject: (error: Error) => void): (error: Error | null) => void {
  return (error) => (error ? reject(error) : resolve());
}

function syncPath(file: string, how: SyncCall): Promise<void> {
  return new Promise((resolve, reject) => {
    const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW);
    how(fd, (error) => {
      fs.closeSync(fd);
      if (error) reject(Object.assign(error, { path: file }));
      else resolve();
    });
  });
}

function syncNow(file: string): void {
  const fd = fs.openSync(file, O_RDONLY);
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** ctime is in it because no program can set it. */
function stampOf(stat: fs.BigIntStats): string {
  return stampText(stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs);
}

/**
 * The first folder of the path that was missing. Node's own way goes round for ever, and the process with it, in a folder that was deleted while
 * somebody has it open.
 */
function makePath(folder: string, mode: number | undefined): string | undefined {
  if (isFolder(folder)) return undefined;
  let first: string | undefined;
  const parent = path.dirname(folder);
  if (parent !== folder) first = makePath(parent, mode);
  try {
    fs.mkdirSync(folder, mode);
  } catch (error) {
    if (!isCode(error, 'EEXIST') || !isFolder(folder)) throw error;
    return first; // another was faster
  }
  return first ?? folder;
}

function isFolder(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

function kindOf(stat: fs.BigIntStats): 'folder' | 'FIFO' | 'socket' | 'device' {
  if (stat.isDirectory()) return 'folder';
  if (stat.isFIFO()) return 'FIFO';
  return stat.isSocket() ? 'socket' : 'device';
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
