/**
 * The one way a whole file is written: aside, synced, then given its name. A reader sees the old file, the new one, or
 * none, never a part. Names of half-done files carry the peer, so that leftovers of a dead one can be told and swept.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './layout.js';

export interface Writing {
  /** A synced file beside everything, not yet under its name. */
  aside(bytes: Uint8Array | string): Promise<string>;
  /** Durable under `file` when resolved; replaces what was there. */
  replace(file: string, bytes: Uint8Array | string): Promise<void>;
  /** Under `file` at once and whole; a power cut may take it. */
  show(file: string, text: string): void;
  /** Durable under `file` when resolved; false, and nothing done, if the name is taken. It gets its name when `first` has resolved. */
  createOnce(file: string, bytes: Uint8Array | string, first?: Promise<void>): Promise<boolean>;
  /** Takes away what was made ahead. */
  close(): Promise<void>;
}

/** `beforeFirst` makes the peer known: half-done files of an unknown one would be swept. */
export function writing(disk: Disk, l: Layout, peer: string, beforeFirst: () => void): Writing {
  let count = 0;
  const paper = blanks(disk, l.yard, fresh);
  return {
    aside,
    async replace(file, bytes) {
      const tmp = await aside(bytes);
      disk.rename(tmp, file);
      await disk.syncFolder(path.dirname(file));
    },
    show(file, text) {
      disk.makeFolder(path.dirname(file));
      disk.rename(written(text), file);
    },
    async createOnce(file, bytes, first) {
      const [tmp] = await Promise.all([aside(bytes), first]);
      const created = disk.link(tmp, file);
      disk.remove(tmp);
      if (created) await disk.syncFolder(path.dirname(file));
      return created;
    },
    close: () => paper.close(),
  };

  async function aside(bytes: Uint8Array | string): Promise<string> {
    const tmp = written(bytes);
    try {
      await Promise.resolve(); // what is written together is made first and then synced: making a file waits for a sync under way
      await disk.sync(tmp);
    } catch (error) {
      disk.remove(tmp);
      throw error;
    }
    return tmp;
  }

  function written(bytes: Uint8Array | string): string {
    if (count === 0) beforeFirst();
    const blank = paper.take();
    if (blank !== undefined) {
      disk.append(blank, bytes);
      return blank;
    }
    const tmp = fresh();
    disk.create(tmp, bytes);
    return tmp;
  }

  function fresh(): string {
    return path.join(l.tmp, `${peer}-${++count}`);
  }
}

/** How many empty files lie ready: as many as eight children, their conversations and their ends need. */
const AHEAD = 24;
/** A process that writes fewer, as most commands do, makes none ahead. */
const FEW = 8;

/**
 * Empty files made ahead, by a thread that nobody waits for. Writing a record takes microseconds, making the file for it up to a
 * millisecond where many were deleted lately (ext4 without a journal looks at each of them). One is made at a time, so that syncs
 * find a free thread.
 */
function blanks(disk: Disk, yard: string, fresh: () => string): { take(): string | undefined; close(): Promise<void> } {
  const ready: string[] = [];
  let making: Promise<void> | undefined;
  let most = AHEAD;
  let taken = 0;
  return {
    take() {
      const blank = ready.shift();
      if (++taken > FEW && disk.makeAhead !== undefined) making ??= refill().finally(() => (making = undefined));
      return blank !== undefined && disk.stamp(blank) !== undefined ? blank : undefined;
    },
    async close() {
      most = 0;
      await making;
      for (const blank of ready.splice(0)) disk.remove(blank);
    },
  };

  async function refill(): Promise<void> {
    try {
      while (ready.length < most) {
        const blank = fresh();
        await disk.makeAhead!(yard, blank);
        ready.push(blank);
      }
    } catch {
      // Nothing was promised; whoever needs a file makes it, and is told what is wrong.
    }
  }
}
