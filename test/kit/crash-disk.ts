/**
 * A disk that fails at the Nth change: the process dies there with half of the bytes written, or
 * the system reports one error.
 */
import type { Disk } from '../../src/ports/disk.js';

export type Fault = 'die' | 'ENOSPC' | 'EIO' | 'EACCES';

export class Died extends Error {}

interface CrashDisk extends Disk {
  /** Changes and syncs so far. */
  count(): number;
}

export function crashDisk(disk: Disk, at: number, fault: Fault = 'die'): CrashDisk {
  let n = 0;
  let dead = false;

  /** Runs the call unless it is the Nth. `torn`: what an interrupted call leaves behind. */
  const step = <T>(path: string, call: () => T, torn?: () => void): T => {
    if (dead) throw new Died('the process is gone');
    if (++n !== at) return call();
    if (fault === 'die') {
      torn?.();
      dead = true;
      throw new Died(`died at change ${at}`);
    }
    if (fault === 'ENOSPC') torn?.();
    throw Object.assign(new Error(`${fault}: ${path}`), { code: fault, path });
  };
  const half = (bytes: Uint8Array | string): Buffer => {
    const data = Buffer.from(bytes);
    return data.subarray(0, Math.floor(data.length / 2));
  };
  const alive = <T>(call: () => T): T => {
    if (dead) throw new Died('the process is gone');
    return call();
  };

  return {
    count: () => n,
    read: (file, max) => alive(() => disk.read(file, max)),
    readFrom: (file, offset, max) => alive(() => disk.readFrom(file, offset, max)),
    stamp: (file) => alive(() => disk.stamp(file)),
    glance: (file) => alive(() => disk.glance(file)),
    list: (folder, most) => alive(() => disk.list(folder, most)),
    create: (file, bytes) =>
      step(
        file,
        () => disk.create(file, bytes),
        () => disk.create(file, half(bytes)),
      ),
    async createSynced(file, bytes) {
      this.create(file, bytes);
      await this.sync(file);
    },
    append: (file, bytes) =>
      step(
        file,
        () => disk.append(file, bytes),
        () => disk.append(file, half(bytes)),
      ),
    preallocate: (file, bytes) => step(file, () => disk.preallocate(file, bytes)),
    writeOwn: (file, offset, bytes) =>
      step(
        file,
        () => disk.writeOwn(file, offset, bytes),
        () => disk.writeOwn(file, offset, half(bytes)),
      ),
    close: () => disk.close(),
    patch: (file, offset, bytes) => step(file, () => disk.patch(file, offset, bytes)),
    rename: (from, to) => step(from, () => disk.rename(from, to)),
    link: (from, to) => step(from, () => disk.link(from, to)),
    remove: (file) => step(file, () => disk.remove(file)),
    makeFolder: (folder, mode) => alive(() => disk.makeFolder(folder, mode)),
    async sync(file) {
      await step(file, () => disk.sync(file));
      alive(() => undefined);
    },
    syncNow: (file) => step(file, () => disk.syncNow(file)),
    async syncFolder(folder) {
      await step(folder, () => disk.syncFolder(folder));
      alive(() => undefined);
    },
  };
}

const CALLS = ['read', 'readFrom', 'stamp', 'glance', 'list', 'rename', 'link', 'create', 'append', 'remove'] as const;

/**
 * The disk of a process that the system suspends before its n-th call. Meanwhile `others` happens.
 */
export function suspended(disk: Disk, n: number, others: () => void): { disk: Disk; isOver(): boolean } {
  let calls = 0;
  const before = (): void => {
    if (++calls === n) others();
  };
  const slow: Record<string, unknown> = { ...disk };
  for (const name of CALLS)
    slow[name] = (...args: unknown[]) => {
      before();
      return (disk[name] as (...given: unknown[]) => unknown).apply(disk, args);
    };
  return { disk: slow as unknown as Disk, isOver: () => calls < n };
}
