/**
 * Progress in the inbox files, in `.guild/inbox`. Each file has a cursor: an offset and the hash of
 * all bytes before it, to tell a replaced file from one that grew. Each origin has a log of the
 * keys of accepted lines, to recognise an old line in a new file.
 */
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

/** The start of a line, and the hash of everything before it. */
export interface Place {
  offset: number;
  line: number;
  hash: string;
}

/** `origin` is the file's name before any rotation. It is part of every line's task id. */
export interface Cursor extends Place {
  origin: string;
  /** The file's stamp when every line was done. An unchanged file need not be read. */
  stamp?: string;
}

/** Accepted lines: key → digest of the text. */
type Seen = Map<string, string>;

interface Cursors {
  load(name: string): Cursor | undefined;
  all(): Cursor[];
  save(name: string, cursor: Cursor): Promise<void>;
  seen(origin: string): Seen;
  /** Appends to the log of an origin. */
  note(origin: string, taken: readonly { key: string; digest: string }[]): Promise<void>;
}

export const EMPTY = createHash('sha256').digest('hex');

export function cursors(disk: Disk, root: string, peer = `x${randomBytes(4).toString('hex')}`): Cursors {
  const folder = path.join(root, '.guild', 'inbox');
  const tmp = path.join(root, '.guild', 'tmp');
  const logs = new Map<string, { stamp: string | undefined; seen: Seen }>();
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
      const tmpFile = path.join(tmp, `${peer}-inbox${++count}`);
      // The rename fails if another process swept the temp file. The next save makes up for it.
      await disk.createSynced(tmpFile, JSON.stringify(cursor));
      disk.rename(tmpFile, path.join(folder, `${name}.json`));
      await disk.syncFolder(folder);
    },
    seen,
    async note(origin, taken) {
      if (taken.length === 0) return;
      disk.makeFolder(folder, 0o700);
      const log = logOf(origin);
      const isNew = disk.create(log, '');
      // A crash may have left a torn line, so start on a new one.
      const lines = taken.map(({ key, digest }) => `\n${key} ${digest}\n`).join('');
      const before = seen(origin);
      const stamp = disk.append(log, lines);
      for (const { key, digest } of taken) before.set(key, digest);
      logs.set(origin, { stamp, seen: before });
      await disk.sync(log);
      if (isNew) await disk.syncFolder(folder);
    },
  };

  /** Reads the log again if another process has appended to it. */
  function seen(origin: string): Seen {
    const stamp = disk.stamp(logOf(origin));
    const before = logs.get(origin);
    if (before !== undefined && before.stamp === stamp) return before.seen;
    const read = disk.read(logOf(origin), MAX_LOG_BYTES);
    const keys: Seen = new Map();
    const text = read.kind === 'file' ? read.bytes.toString('latin1') : '';
    for (const [, key, digest] of text.matchAll(/^([0-9a-f]{20}(?:-\d+)?) ([0-9a-f]{20})$/gm)) keys.set(key!, digest!);
    logs.set(origin, { stamp, seen: keys });
    return keys;
  }

  function readCursor(file: string): Cursor | undefined {
    const read = disk.read(file, 64 * 1024);
    if (read.kind !== 'file') return undefined;
    try {
      const cursor = JSON.parse(read.bytes.toString('utf8')) as Cursor;
      const isValid = Number.isSafeInteger(cursor.offset) && cursor.offset >= 0 && Number.isSafeInteger(cursor.line);
      return isValid && typeof cursor.hash === 'string' && typeof cursor.origin === 'string' ? cursor : undefined;
    } catch {
      return undefined; // nothing is lost: every line is read again and recognised
    }
  }
}

const MAX_LOG_BYTES = 256 * 1024 * 1024;
