/**
 * The few file system calls on which the durability promises depend. The crash suite replaces this
 * port to die at the Nth change, or to lose unsynced data, for every N.
 */

// Reads and changes are synchronous: they only touch the page cache and take microseconds. Syncs
// wait for the device and are asynchronous. A change is *visible* when the call returns and
// *durable* when the sync after it resolves. System errors (ENOSPC, EIO, EACCES, …) are thrown as
// Node throws them; outcomes that callers expect are values.
export type Read =
  | { kind: 'file'; bytes: Buffer; stamp: string }
  | { kind: 'missing' }
  /** Not a regular file: a link, FIFO, socket, device or directory. It was not opened. */
  | { kind: 'not_a_file'; what: 'folder' | 'link' | 'FIFO' | 'socket' | 'device' | 'socket or device' }
  | { kind: 'too_big'; size: number };

export interface Disk {
  /** Reads the whole file. Does not follow a link and never hangs on a FIFO. */
  read(path: string, maxBytes?: number): Read;
  /** Like `read`, from `offset` to the end at opening. The stamp is that of the whole file. */
  readFrom(path: string, offset: number, maxBytes?: number): Read;
  /** Changes whenever the content may have changed (domain/stamp.ts); undefined if missing. */
  stamp(path: string): string | undefined;
  /**
   * The stamp as of this turn of the event loop: calls within one turn share a stat, and changes of
   * this process show at once. For files that other processes change and that many tasks ask about.
   */
  glance(path: string): string | undefined;
  /**
   * Names in a folder, unordered; empty if it is missing or not a folder. `most`: the caller needs
   * no more names than this, so a very large folder need not be listed completely.
   */
  list(folder: string, most?: number): string[];
  /** Creates a file. False, without a change, if the name is taken. */
  create(path: string, bytes: Uint8Array | string): boolean;
  /** Appends in one write and returns the new stamp. Throws ENOENT if the file is missing. */
  append(path: string, bytes: Uint8Array | string): string;
  /** Creates a file of zeros, for `writeOwn`. False, without a change, if the name is taken. */
  preallocate(path: string, bytes: number): boolean;
  /**
   * Overwrites bytes in a file that only this process writes. The file stays open: after its name
   * is removed, writes are lost or throw ENOENT.
   */
  writeOwn(path: string, offset: number, bytes: Uint8Array | string): void;
  /** Overwrites bytes in place; for fields of fixed width only. Returns the new stamp. */
  patch(path: string, offset: number, bytes: Uint8Array | string): string;
  /** Replaces `to`. False if `from` is missing. */
  rename(from: string, to: string): boolean;
  /**
   * A second name for the same file; false if `to` is taken. Throws ENOENT if `from` is missing.
   */
  link(from: string, to: string): boolean;
  /** False if the file was missing. */
  remove(path: string): boolean;
  /** Creates the folder and its parents if missing. */
  makeFolder(path: string, mode?: number): void;
  /** `create` and `sync`, for a name that no other process uses. Does not block. */
  createSynced(path: string, bytes: Uint8Array | string): Promise<void>;
  /** Resolves when the bytes are on the device. A failed sync is not retried: the data is lost. */
  sync(path: string): Promise<void>;
  /** Synchronous `sync` of a file or folder, for the rare step that must not be interleaved. */
  syncNow(path: string): void;
  /**
   * Resolves when the names in this folder are on the device. Overlapping calls may share a sync.
   */
  syncFolder(folder: string): Promise<void>;
  /** Closes files that are kept open for speed. The disk remains usable. */
  close(): void;
}
