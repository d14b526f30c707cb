/**
 * How far each file of the inbox was read, kept in `.guild/inbox`: a cursor for each file (an offset and the hash of all bytes
 * before it, so that a file that was truncated or replaced is told from one that grew), and for each origin a log of the
 * keys of lines that were taken, so that an old line in a new file is recognised.
 */
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

/** A place where a line begins, and the hash of everything before it. */
export interface Place {
  offset: number;
  line: number;
  hash: string;
}

/** `origin`: the file's first name; lines are known by it, whatever the file is called after a rotation. */
export interface Cursor extends Place {
  origin: string;
  /** The file's stamp when all of it was done: while it has that, it need not be read. */
  stamp?: string;
}

/** What was taken: the key of a line and a digest of its text. */
type Seen = Map<string, string>;

interface Cursors {
  load(name: string): Cursor | undefined;
  /** Every cursor there is. */
  all(): Cursor[];
  save(name: string, cursor: Cursor): Promise<void>;
  seen(origin: string): Seen;
  /** Adds to the log of an origin. */
  note(origin: string, taken: readonly { key: string; digest: string }[]): Promise<void>;
}

export const EMPTY = createHash('sha256').digest('hex');

export function cursors(disk: Disk, root: string, peer = `x${randomBytes(4).toString('hex')}`): Cursors {
  const folder = path.join(root, '.guild', 'inbox');
  const tmp = path.join(root, '.guild', 'tmp');
  const known = new Map<string, { stamp: string | undefined; seen: Seen }>();
  let count = 0;
  const logOf = (origin: string): string => path.join(folder, `${origin}.seen`);

  return {
    load: (name) => readCursor(path.join(folder, `${name}.json`)),
    all: () =>
      disk
        .list(folder)
        .filter((name) => name.endsWith('.json'))
        .flatMap((name) => readCursor(path.join(folder, name)) ?? []),
    async save(name, cursor) {
      disk.makeFolder(folder, 0o700);
      disk.makeFolder(tmp, 0o700);
      const aside = path.join(tmp, `${peer}-inbox${++count}`);
      // Not found again where another process took it for a leftover, because this one is not known yet: then it is saved with the next.
      await disk.createSynced(aside, JSON.stringify(cursor));
      disk.rename(aside, path.join(folder, `${name}.json`));
      await disk.syncFolder(folder);
    },
    seen,
    async note(origin, taken) {
      if (taken.length === 0) return;
      disk.makeFolder(folder, 0o700);
      const log = logOf(origin);
      const isNew = disk.create(log, '');
      // A crash may have left half a line: ours begins on one of its own.
      const lines = taken.map(({ key, digest }) => `\n${key} ${digest}\n`).join('');
      const before = seen(origin);
      const stamp = disk.append(log, lines);
      for (const { key, digest } of taken) before.set(key, digest);
      known.set(origin, { stamp, seen: before });
      await disk.sync(log);
      if (isNew) await disk.syncFolder(folder);
    },
  };

  /** Read again when another process added to it. */
  function seen(origin: string): Seen {
    const stamp = disk.stamp(logOf(origin));
    const before = known.get(origin);
    if (before !== undefined && before.stamp === stamp) return before.seen;
    const read = disk.read(logOf(origin), MAX_LOG_BYTES);
    const found: Seen = new Map();
    const text = read.kind === 'file' ? read.bytes.toString('latin1') : '';
    for (const [, key, digest] of text.matchAll(/^([0-9a-f]{20}(?:-\d+)?) ([0-9a-f]{20})$/gm)) found.set(key!, digest!);
    known.set(origin, { stamp, seen: found });
    return found;
  }

  function readCursor(file: string): Cursor | undefined {
    const read = disk.read(file, 64 * 1024);
    if (read.kind !== 'file') return undefined;
    try {
      const given = JSON.parse(read.bytes.toString('utf8')) as Cursor;
      const whole = Number.isSafeInteger(given.offset) && given.offset >= 0 && Number.isSafeInteger(given.line);
      return whole && typeof given.hash === 'string' && typeof given.origin === 'string' ? given : undefined;
    } catch {
      return undefined; // nothing is lost: every line is looked at again and recognised
    }
  }
}

const MAX_LOG_BYTES = 256 * 1024 * 1024;
