/**
 * Records of effects that ended long ago, in one file: `.guild/run/done.jsonl`. A record is durable
 * there before its own files go, so at any moment it is in at least one of the two places.
 */
import path from 'node:path';
import { inodeOf, sizeOf, writtenAt } from '../../../domain/stamp.js';
import type { Disk } from '../../../ports/disk.js';
import type { Layout } from '../base/layout.js';
import { appendOrCreate } from '../base/append-or-create.js';

export interface DoneEffects {
  has(id: string): boolean;
  /** The start of the effect and its outcome, as they were in its own file. */
  get(id: string): [started: string, outcome: string] | undefined;
  /** Moves records here whose effects ended more than a day ago, a bounded number at a time. */
  fold(): Promise<void>;
}

interface Dependencies {
  disk: Disk;
  layout: Layout;
  me: string;
  now: () => Date;
  isAlive: (peer: string) => boolean;
  /** The lines of an effect in its own file; none unless it has ended. */
  linesOf: (id: string) => string[];
}

const STARTED = '.started';
/** A file name has at most 255 bytes. */
const MAX_ID_BYTES = 300;
const MIN_AGE_MS = 24 * 60 * 60_000;
const MAX_FOLDED = 500;
/** Records that are too young are skipped, so the number of records examined has its own limit. */
const MAX_LOOKS = 5000;
/** No text inside a record can end like this, because its quotes are escaped. */
const END = '"end":true}';

export function doneEffects({ disk, layout, me, now, isAlive, linesOf }: Dependencies): DoneEffects {
  const file = path.join(layout.run, 'done.jsonl');
  const lock = path.join(layout.run, 'fold.lock');
  /** Where the line of each effect is. */
  const places = new Map<string, { at: number; bytes: number }>();
  let stamp: string | undefined;
  let indexed = 0;
  /** The content is seldom needed, so it does not stay in memory. */
  let content: WeakRef<Buffer> | undefined;

  return { has, get, fold };

  function has(id: string): boolean {
    refresh();
    return places.has(id);
  }

  function get(id: string): [string, string] | undefined {
    refresh();
    const place = places.get(id);
    if (place === undefined) return undefined;
    const bytes = content?.deref() ?? readAll();
    const line = bytes.toString('utf8', place.at, place.at + place.bytes);
    const { started, outcome } = JSON.parse(line) as { started: string; outcome: string };
    return [started, outcome];
  }

  function readAll(): Buffer {
    const read = disk.read(file, Infinity);
    const bytes = read.kind === 'file' ? read.bytes : Buffer.alloc(0);
    content = new WeakRef(bytes);
    return bytes;
  }

  /** Only what was added since is read. */
  function refresh(): void {
    const current = disk.stamp(file);
    if (current === stamp) return;
    const hasGrown =
      stamp !== undefined && current !== undefined && inodeOf(stamp) === inodeOf(current) && sizeOf(current) >= indexed;
    if (!hasGrown) {
      places.clear();
      indexed = 0;
    }
    content = undefined;
    const read = disk.readFrom(file, indexed, Infinity);
    stamp = read.kind === 'file' ? read.stamp : undefined;
    if (read.kind === 'file') index(read.bytes);
  }

  /** A line that a power cut tore does not count: its effect still has its own file. */
  function index(bytes: Buffer): void {
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      const line = bytes.subarray(from, end);
      const id = /^\{"id":"([^"\\]+)"/.exec(line.toString('utf8', 0, MAX_ID_BYTES))?.[1];
      const isWhole = line.toString('latin1', line.length - END.length) === END && !line.includes(0);
      if (id !== undefined && isWhole) places.set(id, { at: indexed + from, bytes: line.length });
      from = end + 1;
    }
    indexed += from;
  }

  async function fold(): Promise<void> {
    const old = oldRecords();
    if (old.length === 0 || !takeLock()) return;
    try {
      refresh();
      const missing = old.filter(({ id }) => !places.has(id));
      const isTorn = stamp !== undefined && sizeOf(stamp) > indexed;
      const text = missing.map((record) => `${JSON.stringify({ ...record, end: true })}\n`).join('');
      if (text !== '') appendOrCreate(disk, file, (isTorn ? '\n' : '') + text, path.join(layout.tmp, `${me}-done`));
      // Syncs even if all of them are present: their writer may have died before its own sync.
      await disk.sync(file);
      await disk.syncFolder(layout.run);
      for (const { id } of old) for (const end of [STARTED, '.done']) disk.remove(path.join(layout.run, `${id}${end}`));
    } finally {
      disk.remove(lock);
    }
  }

  function oldRecords(): { id: string; started: string; outcome: string }[] {
    const records: { id: string; started: string; outcome: string }[] = [];
    let looks = 0;
    for (const name of disk.list(layout.run)) {
      if (!name.endsWith(STARTED)) continue;
      if (records.length >= MAX_FOLDED || looks++ >= MAX_LOOKS) break;
      const written = disk.stamp(path.join(layout.run, name));
      if (written === undefined || now().getTime() - Number(writtenAt(written) / 1_000_000n) < MIN_AGE_MS) continue;
      const id = name.slice(0, -STARTED.length);
      const [started, outcome] = linesOf(id);
      if (started !== undefined && outcome !== undefined) records.push({ id, started, outcome });
    }
    return records;
  }

  /** One process folds at a time, so that no record is written twice. */
  function takeLock(): boolean {
    if (disk.create(lock, me)) return true;
    const read = disk.read(lock);
    if (read.kind === 'file' && isAlive(read.bytes.toString('utf8'))) return false;
    const aside = path.join(layout.tmp, `${me}-fold`);
    if (disk.rename(lock, aside)) disk.remove(aside);
    return disk.create(lock, me);
  }
}
