/**
 * The real file system. Reads and changes are synchronous calls on the page cache. Only syncing
 * goes to the thread pool; overlapping syncs of one file share a call that starts after every
 * change.
 */
import fs from 'node:fs';
import path from 'node:path';
import { stampText } from '../../domain/stamp.js';
import type { Disk, Read } from '../../ports/disk.js';
import { glancesOf } from './glances.js';
import { keptFiles, type KeptFiles, type SyncCall } from './kept-files.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = fs.constants;
/** Conversations, answers and rules concern the user alone. */
const OWN_FILE = 0o600;
const OWN_FOLDER = 0o700;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const PAGE_BYTES = 4096;

export function disk(): Disk {
  const syncs = new Map<string, SharedSync>();
  const appended = keptFiles();
  /** Files of `writeOwn`. */
  const own = keptFiles();
  const absent = absentPaths();
  const glances = glancesOf((file) => {
    const stat = statOf(file);
    return stat && stampOf(stat);
  });
  const createFile = fileCreator();
  return {
    read: (file, maxBytes) => read(file, 0, maxBytes, absent),
    readFrom: (file, from, maxBytes) => read(file, from, maxBytes, absent),
    stamp: glances.stampNow,
    glance: glances.glance,
    list(folder, most) {
      if (absent.has(folder)) return [];
      try {
        return most === undefined ? fs.readdirSync(folder) : firstNames(folder, most);
      } catch (error) {
        if (isCode(error, 'ENOENT')) absent.add(folder);
        if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return [];
        throw error;
      }
    },
    create(file, bytes) {
      glances.forget(file);
      return createWith(file, (fd) => writeAll(fd, bytes));
    },
    append(file, bytes) {
      glances.forget(file);
      return append(appended, file, bytes);
    },
    preallocate(file, bytes) {
      glances.forget(file);
      return createWith(file, (fd) => {
        // Small writes: one large write becomes one large folio that every later sync writes whole.
        const page = Buffer.alloc(PAGE_BYTES);
        for (let at = 0; at < bytes; at += PAGE_BYTES) writeAll(fd, page.subarray(0, Math.min(PAGE_BYTES, bytes - at)));
      });
    },
    writeOwn(file, offset, bytes) {
      const fd = own.get(file) ?? own.open(file, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
      const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
      for (let done = 0; done < data.length;) done += fs.writeSync(fd, data, done, data.length - done, offset + done);
    },
    patch(file, offset, bytes) {
      glances.forget(file);
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
      glances.forget(from);
      glances.forget(to);
      try {
        fs.renameSync(from, to);
        for (const files of [appended, own]) files.move(from, to);
        return true;
      } catch (error) {
        if (isCode(error, 'ENOENT')) return false;
        throw error;
      }
    },
    link(from, to) {
      glances.forget(from);
      glances.forget(to);
      try {
        fs.linkSync(from, to);
        return true;
      } catch (error) {
        if (isCode(error, 'EEXIST')) return false;
        throw error;
      }
    },
    remove(file) {
      glances.forget(file);
      for (const files of [appended, own]) files.close(file);
      try {
        fs.unlinkSync(file);
        return true;
      } catch (error) {
        if (isCode(error, 'ENOENT')) return false;
        throw error;
      }
    },
    makeFolder(folder, mode) {
      glances.forget(folder);
      const first = makePath(folder, mode);
      if (first !== undefined) syncNow(path.dirname(first));
    },
    createSynced(file, bytes) {
      glances.forget(file);
      return createSynced(file, bytes, createFile);
    },
    sync: (file) => share(file, fs.fdatasync),
    syncNow,
    syncFolder: (folder) => share(folder, fs.fsync),
    close() {
      for (const files of [appended, own]) files.closeAll();
    },
  };

  function share(file: string, sync: SyncCall): Promise<void> {
    const current = syncs.get(file);
    if (current === undefined) return start(file, sync);
    // The running sync may have started before this caller's change, so share the one after it.
    current.next ??= current.running.then(
      () => start(file, sync),
      () => start(file, sync),
    );
    return current.next;
  }

  function start(file: string, sync: SyncCall): Promise<void> {
    const entry: SharedSync = { running: own.isOpen(file) ? own.pinned(file, sync) : syncPath(file, sync) };
    syncs.set(file, entry);
    const done = (): void => {
      if (entry.next === undefined && syncs.get(file) === entry) syncs.delete(file);
    };
    entry.running.then(done, done);
    return entry.running;
  }
}

interface SharedSync {
  running: Promise<void>;
  next?: Promise<void>;
}

/**
 * Undefined if the file is missing, or a part of its path is a file (`agents/LICENSE/agent.md`).
 */
function statOf(file: string): fs.BigIntStats | undefined {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false, bigint: true });
  } catch (error) {
    if (isCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

const MAX_ABSENT = 100;

interface AbsentPaths {
  /** True if the path was missing before and still is. */
  has(file: string): boolean;
  add(file: string): void;
}

/** Paths that were missing. Checking them with `lstat` first costs a tenth of a thrown ENOENT. */
function absentPaths(): AbsentPaths {
  const paths = new Set<string>();
  return {
    has(file) {
      if (!paths.has(file)) return false;
      if (statOf(file) === undefined) return true;
      paths.delete(file);
      return false;
    },
    add(file) {
      if (paths.size < MAX_ABSENT) paths.add(file);
    },
  };
}

function read(file: string, from: number, maxBytes = DEFAULT_MAX_BYTES, absent: AbsentPaths): Read {
  if (absent.has(file)) return { kind: 'missing' };
  let fd: number;
  try {
    fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (isCode(error, 'ENOENT')) absent.add(file);
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

/** Reads up to the size at opening. A file that grows later changes its stamp and is read again. */
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

function firstNames(folder: string, most: number): string[] {
  const open = fs.opendirSync(folder, { bufferSize: 1024 });
  try {
    const names: string[] = [];
    for (let entry = open.readSync(); entry !== null && names.length < most; entry = open.readSync())
      names.push(entry.name);
    return names;
  } finally {
    open.closeSync();
  }
}

/** False, without a change, if the name is taken. */
function createWith(file: string, write: (fd: number) => void): boolean {
  let fd: number;
  try {
    fd = fs.openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, OWN_FILE);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
  try {
    write(fd);
  } finally {
    fs.closeSync(fd);
  }
  return true;
}

/**
 * Files that grow stay open. After the write, the name is compared with the open file: if a person
 * replaced the file, the bytes are written again to the new one.
 */
function append(kept: KeptFiles, file: string, bytes: Uint8Array | string): string {
  const fd = kept.get(file) ?? kept.open(file, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  writeAll(fd, bytes);
  const stat = fs.lstatSync(file, { throwIfNoEntry: false, bigint: true });
  if (stat?.ino === kept.inode(file)) return stampOf(stat!);
  kept.close(file);
  return append(kept, file, bytes); // throws ENOENT if the file was deleted
}

function writeAll(fd: number, bytes: Uint8Array | string): void {
  const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  let done = 0;
  while (done < data.length) done += fs.writeSync(fd, data, done, data.length - done);
}

/**
 * On Linux, O_DSYNC writes and syncs in one call. Other systems lack it, or leave the bytes in the
 * device's cache (macOS), so they need a separate sync.
 */
const O_DSYNC = process.platform === 'linux' ? fs.constants.O_DSYNC : undefined;

async function createSynced(file: string, bytes: Uint8Array | string, createFile: CreateFile): Promise<void> {
  const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  const fd = await createFile(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | (O_DSYNC ?? 0));
  try {
    for (let from = 0; from < data.length;) from += await writeFrom(fd, data, from);
    if (O_DSYNC === undefined)
      await new Promise<void>((resolve, reject) => fs.fdatasync(fd, (error) => (error ? reject(error) : resolve())));
  } catch (error) {
    throw Object.assign(error as Error, { path: file });
  } finally {
    fs.closeSync(fd);
  }
}

/** If creating a file takes longer than this, the next `THREADED_CALLS` go to a thread. */
const SLOW_MS = 0.15;
const THREADED_CALLS = 50;

type CreateFile = (file: string, flags: number) => Promise<number>;

/**
 * Creating a file is usually cheaper than handing the call to a thread. On some file systems it is
 * not (ext4 without a journal takes half a millisecond), so each synchronous call is measured.
 */
function fileCreator(): CreateFile {
  let threadedCallsLeft = 0;
  return async (file, flags) => {
    if (threadedCallsLeft-- > 0) {
      return new Promise((resolve, reject) => {
        fs.open(file, flags, OWN_FILE, (error, fd) => (error ? reject(error) : resolve(fd)));
      });
    }
    const from = performance.now();
    const fd = fs.openSync(file, flags, OWN_FILE);
    threadedCallsLeft = performance.now() - from > SLOW_MS ? THREADED_CALLS : 0;
    return fd;
  };
}

function writeFrom(fd: number, data: Uint8Array, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.write(fd, data, from, data.length - from, null, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

function syncPath(file: string, sync: SyncCall): Promise<void> {
  return new Promise((resolve, reject) => {
    const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    sync(fd, (error) => {
      fs.closeSync(fd);
      // There is nothing to sync if a pipe or a device has replaced the file; readers refuse it.
      if (error && error.code !== 'EINVAL') reject(Object.assign(error, { path: file }));
      else resolve();
    });
  });
}

function syncNow(file: string): void {
  const fd = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Includes ctime, because no program can set it. */
function stampOf(stat: fs.BigIntStats): string {
  return stampText(stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs);
}

/**
 * Creates the folder and its parents; returns the first one that was missing. Node's recursive
 * mkdir never returns if a parent was deleted while a process has it open.
 */
function makePath(folder: string, mode = OWN_FOLDER): string | undefined {
  if (isFolder(folder)) return undefined;
  let first: string | undefined;
  const parent = path.dirname(folder);
  if (parent !== folder) first = makePath(parent, mode);
  try {
    fs.mkdirSync(folder, mode);
  } catch (error) {
    if (!isCode(error, 'EEXIST') || !isFolder(folder)) throw error;
    return first; // another process created it first
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
