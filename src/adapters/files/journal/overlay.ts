/**
 * A disk for readers: the unfinished writes of dead processes already appear to be there. Changes
 * stay in memory, so that a command that only looks never writes to the workspace.
 */
import path from 'node:path';
import type { Disk, Read } from '../../../ports/disk.js';

type ReadableDisk = Pick<Disk, 'read' | 'readFrom' | 'stamp' | 'list'>;
type Overlay = Pick<Disk, 'create' | 'append' | 'rename' | 'remove'>;

export function overlay(disk: Disk): ReadableDisk & Overlay {
  /** Undefined: removed. */
  const changed = new Map<string, Buffer | undefined>();
  let count = 0;
  const stamps = new Map<string, string>();
  const self: ReadableDisk & Overlay = {
    read: (file, maxBytes) => (changed.has(file) ? inMemory(file, 0) : disk.read(file, maxBytes)),
    readFrom: (file, offset, maxBytes) =>
      changed.has(file) ? inMemory(file, offset) : disk.readFrom(file, offset, maxBytes),
    stamp: (file) => (changed.has(file) ? stamps.get(file) : disk.stamp(file)),
    list(folder) {
      const names = new Set(disk.list(folder));
      for (const [file, bytes] of changed) {
        if (path.dirname(file) !== folder) continue;
        if (bytes === undefined) names.delete(path.basename(file));
        else names.add(path.basename(file));
      }
      return [...names];
    },
    create(file, bytes) {
      if (self.stamp(file) !== undefined) return false;
      set(file, Buffer.from(bytes));
      return true;
    },
    append(file, bytes) {
      const read = self.read(file, Infinity);
      if (read.kind !== 'file') throw Object.assign(new Error(`ENOENT: ${file}`), { code: 'ENOENT', path: file });
      set(file, Buffer.concat([read.bytes, Buffer.from(bytes)]));
      return stamps.get(file)!;
    },
    rename(from, to) {
      const read = self.read(from, Infinity);
      if (read.kind !== 'file') return false;
      set(to, read.bytes);
      set(from, undefined);
      return true;
    },
    remove(file) {
      if (self.stamp(file) === undefined) return false;
      set(file, undefined);
      return true;
    },
  };
  return self;

  function set(file: string, bytes: Buffer | undefined): void {
    changed.set(file, bytes);
    if (bytes === undefined) stamps.delete(file);
    else stamps.set(file, `0.${bytes.length}.${++count}.${count}`);
  }

  function inMemory(file: string, offset: number): Read {
    const bytes = changed.get(file);
    if (bytes === undefined) return { kind: 'missing' };
    return { kind: 'file', bytes: bytes.subarray(offset), stamp: stamps.get(file)! };
  }
}
