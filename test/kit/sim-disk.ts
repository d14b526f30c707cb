/**
 * A disk in memory that can lose power. Names are in a journal, as in modern file systems: any sync
 * commits all earlier changes of names, in order. Bytes are safe only in files that were synced. At
 * a power cut the seed decides how much of the uncommitted journal survives, and which unsynced
 * bytes are torn.
 */
import path from 'node:path';
import type { Disk, Read } from '../../src/ports/disk.js';

/** The file with the boot id, which changes with each simulated power cut. */
export const BOOT = '/boot';

interface Inode {
  number: number;
  bytes: Buffer;
  safe: Buffer;
  mtime: number;
  ctime: number;
}

type NameChange =
  | { kind: 'set'; path: string; inode: Inode }
  | { kind: 'delete'; path: string }
  | { kind: 'move'; from: string; to: string }
  | { kind: 'folder'; path: string };

export interface SimDisk extends Disk {
  /** Turns the power off and on again; `random` gives numbers in [0, 1). */
  powerCut(random: () => number): void;
  /** Every file and its text. */
  tree(): Map<string, string>;
  /** Replaces the file, as a person with an editor does. */
  save(file: string, text: string): void;
}

export function simDisk(): SimDisk {
  let names = new Map<string, Inode>();
  let folders = new Set<string>(['/']);
  let committedNames = new Map<string, Inode>();
  let committedFolders = new Set<string>(['/']);
  let journal: NameChange[] = [];
  let count = 1;
  let boots = 1;

  const tick = (): number => count++;
  const change = (one: NameChange): void => {
    apply(one, names, folders);
    journal.push(one);
  };
  const fresh = (bytes: Buffer): Inode => {
    const now = tick();
    return { number: now, bytes, safe: Buffer.alloc(0), mtime: now, ctime: now };
  };
  const stampOf = (inode: Inode): string => `${inode.number}.${inode.bytes.length}.${inode.mtime}.${inode.ctime}`;
  const need = (file: string): Inode => {
    const inode = names.get(file);
    if (!inode) throw Object.assign(new Error(`ENOENT: ${file}`), { code: 'ENOENT', path: file });
    return inode;
  };
  const folderTimes = new Map<string, number>();
  const touch = (file: string): void => void folderTimes.set(path.dirname(file), tick());

  return {
    read(file, maxBytes = Infinity): Read {
      if (file === BOOT) return { kind: 'file', bytes: Buffer.from(`boot ${boots}`), stamp: '' };
      if (folders.has(file)) return { kind: 'not_a_file', what: 'folder' };
      const inode = names.get(file);
      if (!inode) return { kind: 'missing' };
      if (inode.bytes.length > maxBytes) return { kind: 'too_big', size: inode.bytes.length };
      return { kind: 'file', bytes: Buffer.from(inode.bytes), stamp: stampOf(inode) };
    },
    readFrom(file, offset, maxBytes) {
      const found = this.read(file);
      if (found.kind !== 'file') return found;
      const bytes = found.bytes.subarray(offset);
      return bytes.length > (maxBytes ?? Infinity)
        ? { kind: 'too_big', size: found.bytes.length }
        : { ...found, bytes };
    },
    stamp(file) {
      if (folders.has(file)) return `0.0.${folderTimes.get(file) ?? 0}.0`;
      const inode = names.get(file);
      return inode && stampOf(inode);
    },
    glance(file) {
      return this.stamp(file);
    },
    list(folder) {
      const found: string[] = [];
      for (const file of [...names.keys(), ...folders]) {
        if (path.dirname(file) === folder && file !== folder) found.push(path.basename(file));
      }
      return found;
    },
    create(file, bytes) {
      if (names.has(file)) return false;
      change({ kind: 'set', path: file, inode: fresh(Buffer.from(bytes)) });
      touch(file);
      return true;
    },
    async createSynced(file, bytes) {
      this.create(file, bytes);
      await this.sync(file);
    },
    append(file, bytes) {
      const inode = need(file);
      inode.bytes = Buffer.concat([inode.bytes, Buffer.from(bytes)]);
      inode.mtime = inode.ctime = tick();
      return stampOf(inode);
    },
    preallocate(file, bytes) {
      return this.create(file, Buffer.alloc(bytes));
    },
    writeOwn(file, offset, bytes) {
      this.patch(file, offset, bytes);
    },
    close() {},
    patch(file, offset, bytes) {
      const inode = need(file);
      const next = Buffer.from(inode.bytes);
      Buffer.from(bytes).copy(next, offset);
      inode.bytes = next;
      inode.mtime = inode.ctime = tick();
      return stampOf(inode);
    },
    rename(from, to) {
      const inode = names.get(from);
      if (!inode) return false;
      change({ kind: 'move', from, to });
      inode.ctime = tick();
      touch(from);
      touch(to);
      return true;
    },
    link(from, to) {
      const inode = need(from);
      if (names.has(to)) return false;
      change({ kind: 'set', path: to, inode });
      inode.ctime = tick();
      touch(to);
      return true;
    },
    remove(file) {
      if (!names.has(file)) return false;
      change({ kind: 'delete', path: file });
      touch(file);
      return true;
    },
    makeFolder(folder) {
      for (let at = folder; !folders.has(at); at = path.dirname(at)) change({ kind: 'folder', path: at });
      commit();
    },
    async sync(file) {
      const inode = need(file);
      const bytes = inode.bytes;
      commit();
      await Promise.resolve();
      inode.safe = bytes;
    },
    syncNow(file) {
      commit();
      const inode = names.get(file);
      if (inode !== undefined) inode.safe = inode.bytes;
    },
    async syncFolder() {
      await Promise.resolve();
      commit();
    },
    powerCut(random) {
      boots++;
      const kept = Math.floor(random() * (journal.length + 1));
      names = new Map(committedNames);
      folders = new Set(committedFolders);
      for (const one of journal.slice(0, kept)) apply(one, names, folders);
      for (const inode of new Set(names.values())) lose(inode, random);
      committedNames = new Map(names);
      committedFolders = new Set(folders);
      journal = [];
    },
    tree: () =>
      new Map(
        [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([file, inode]) => [file, inode.bytes.toString('utf8')]),
      ),
    save(file, text) {
      change({ kind: 'set', path: file, inode: fresh(Buffer.from(text)) });
      names.get(file)!.safe = Buffer.from(text);
      touch(file);
      commit();
    },
  };

  function commit(): void {
    committedNames = new Map(names);
    committedFolders = new Set(folders);
    journal = [];
  }
}

function apply(one: NameChange, names: Map<string, Inode>, folders: Set<string>): void {
  if (one.kind === 'set') names.set(one.path, one.inode);
  else if (one.kind === 'delete') names.delete(one.path);
  else if (one.kind === 'folder') folders.add(one.path);
  else {
    const inode = names.get(one.from);
    if (inode === undefined) return;
    names.delete(one.from);
    names.set(one.to, inode);
  }
}

/**
 * Unsynced bytes after a power cut: all, none, a prefix, or the full length with zeros at the end.
 */
function lose(inode: Inode, random: () => number): void {
  if (inode.bytes.equals(inode.safe)) return;
  const { bytes, safe } = inode;
  if (bytes.length === safe.length) {
    inode.bytes = inode.safe = sectors(bytes, safe, random);
    return;
  }
  const grew = bytes.length >= safe.length && bytes.subarray(0, safe.length).equals(safe);
  const cut = grew ? safe.length + Math.floor(random() * (bytes.length - safe.length + 1)) : 0;
  const how = random();
  if (how < 0.3) inode.bytes = safe;
  else if (how < 0.55) inode.bytes = bytes;
  else if (how < 0.85) inode.bytes = grew ? bytes.subarray(0, cut) : safe;
  else inode.bytes = grew ? Buffer.concat([bytes.subarray(0, cut), Buffer.alloc(bytes.length - cut)]) : safe;
  inode.safe = inode.bytes;
}

/** Bytes that were overwritten in place: any of the sectors may have reached the device. */
function sectors(bytes: Buffer, safe: Buffer, random: () => number): Buffer {
  const mixed = Buffer.from(safe);
  const chance = random();
  for (let at = 0; at < bytes.length; at += SECTOR_BYTES)
    if (random() < chance) bytes.copy(mixed, at, at, at + SECTOR_BYTES);
  return mixed;
}

const SECTOR_BYTES = 512;
