/**
 * Descriptors of files that are written again and again. Opening and closing a file costs more than
 * writing a line to it.
 */
import fs from 'node:fs';

export type SyncCall = (fd: number, done: (error: NodeJS.ErrnoException | null) => void) => void;

export interface KeptFiles {
  get(file: string): number | undefined;
  isOpen(file: string): boolean;
  /**
   * Syncs an open file. If it is closed meanwhile, its descriptor stays valid until the sync ends.
   */
  pinned(file: string, sync: SyncCall): Promise<void>;
  inode(file: string): bigint | undefined;
  open(file: string, flags: number): number;
  move(from: string, to: string): void;
  close(file: string): void;
  closeAll(): void;
}

/** Beyond this number, the least recently used file is closed. */
const MAX_OPEN = 48;

export function keptFiles(): KeptFiles {
  const files = new Map<string, Kept>();
  return {
    get(file) {
      const entry = files.get(file);
      if (entry === undefined) return undefined;
      files.delete(file);
      files.set(file, entry);
      return entry.fd;
    },
    isOpen: (file) => files.has(file),
    pinned(file, sync) {
      const entry = files.get(file)!;
      entry.pins++;
      return new Promise((resolve, reject) => {
        sync(entry.fd, (error) => {
          if (--entry.pins === 0 && entry.isClosed) fs.closeSync(entry.fd);
          if (error) reject(Object.assign(error, { path: file }));
          else resolve();
        });
      });
    },
    inode: (file) => files.get(file)?.inode,
    open(file, flags) {
      const fd = fs.openSync(file, flags);
      files.set(file, { fd, inode: fs.fstatSync(fd, { bigint: true }).ino, pins: 0, isClosed: false });
      if (files.size > MAX_OPEN) close(files.keys().next().value!);
      return fd;
    },
    move(from, to) {
      const entry = files.get(from);
      close(to);
      if (entry === undefined) return;
      files.delete(from);
      files.set(to, entry);
    },
    close,
    closeAll() {
      for (const file of files.keys()) close(file);
    },
  };

  function close(file: string): void {
    const entry = files.get(file);
    if (entry === undefined) return;
    files.delete(file);
    entry.isClosed = true;
    if (entry.pins === 0) fs.closeSync(entry.fd);
  }
}

interface Kept {
  fd: number;
  inode: bigint;
  /** Syncs under way. */
  pins: number;
  isClosed: boolean;
}
