/**
 * The few calls on a file system that the product's promises rest on. They are small on purpose: the crash suite
 * replaces this port, dies at the Nth change, or loses what was not synced, for every N.
 *
 * Reading and changing are synchronous: these calls only touch the page cache and take microseconds. Only syncing
 * waits for the device, and only it is asynchronous. A change is *visible* when the call returns and *durable* when
 * the sync after it has resolved.
 *
 * Errors of the system (ENOSPC, EIO, EACCES, …) are thrown as Node throws them. Outcomes that the callers expect are values.
 */
export type Read =
  | { kind: 'file'; bytes: Buffer; stamp: string }
  | { kind: 'missing' }
  /** Not a regular file: a link, FIFO, socket, device or directory. It was not opened. */
  | { kind: 'not_a_file'; what: 'folder' | 'link' | 'FIFO' | 'socket' | 'device' | 'socket or device' }
  | { kind: 'too_big'; size: number };

export interface Disk {
  /** The whole file, without following a link at its end and without ever hanging on a FIFO. */
  read(path: string, maxBytes?: number): Read;
  /** The bytes from `offset` on, as far as the file reached when it was opened; like `read` otherwise, and the stamp is the whole file's. */
  readFrom(path: string, offset: number, maxBytes?: number): Read;
  /** A text that differs whenever the file's content may differ (domain/stamp.ts); undefined if there is no such file. */
  stamp(path: string): string | undefined;
  /** Names in a folder, in no order; empty if it is missing or not a folder. */
  list(folder: string): string[];
  /** New file with these bytes; false, and nothing done, if the name is taken. */
  create(path: string, bytes: Uint8Array | string): boolean;
  /** Adds to the end of an existing file in one write. Returns the file's new stamp. Throws ENOENT if it is missing. */
  append(path: string, bytes: Uint8Array | string): string;
  /** The same to a file that nobody else writes, moves or removes: it stays open until it is removed here. */
  appendOwn(path: string, bytes: Uint8Array | string): void;
  /** Overwrites bytes in place; for fields of fixed width only. Returns the new stamp. */
  patch(path: string, offset: number, bytes: Uint8Array | string): string;
  /** False if `from` is gone. Replaces `to`. */
  rename(from: string, to: string): boolean;
  /** A second name for the same file; false if `to` is taken. Throws ENOENT if `from` is missing. */
  link(from: string, to: string): boolean;
  /** False if there was nothing. */
  remove(path: string): boolean;
  /** The same for a leftover that nobody looks at any more. It may stay if the process ends now, and nobody is told if it cannot be removed. */
  removeSoon(path: string): void;
  /** Resolves when all of those are gone; absent where they go at once. */
  removed?(): Promise<void>;
  /** With its parents; nothing happens if it is there. */
  makeFolder(path: string, mode?: number): void;
  /** `create` and `sync` in one, for a name that nobody else uses: making a file may take long, and nobody is kept waiting for it. */
  createSynced(path: string, bytes: Uint8Array | string): Promise<void>;
  /** Resolves when the file's bytes are on the device. A failed sync is never tried again: the data must count as gone. */
  sync(path: string): Promise<void>;
  /** The same, of a file or of the names in a folder, and waits: for the rare moment that lets nobody in between. */
  syncNow(path: string): void;
  /** Resolves when names in this folder are on the device. Calls that overlap may share one sync that began after them. */
  syncFolder(folder: string): Promise<void>;
}
