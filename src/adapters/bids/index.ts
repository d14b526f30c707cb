/**
 * Track records and earlier bids, cached under `.guild/`. `records.json` folds `events/*.jsonl` up
 * to an offset per file, so that each call reads only new lines. Any process may write it, and it
 * is rebuilt from the events if it is missing. Bids are in `cache/bids/`.
 */
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { asBid } from '../../domain/task/bid.js';
import type { Event } from '../../domain/event.js';
import type { TrackRecords } from '../../domain/agent/track-record.js';
import { sizeOf } from '../../domain/stamp.js';
import type { Bids } from '../../ports/bids.js';
import type { Disk } from '../../ports/disk.js';

interface BidsOptions {
  root: string;
  disk: Disk;
  peer: string;
  fold: (records: TrackRecords, event: Event) => TrackRecords;
}

interface Folded {
  version: number;
  /** How many bytes of each event file have been read. */
  read: Record<string, number>;
  records: TrackRecords;
}

const VERSION = 1;
/** Longest unread tail of one event file. A longer one is skipped. */
const MAX_NEW_BYTES = 512 * 1024 * 1024;
/** The folded records are saved after this much new input; each process folds the rest. */
const SAVE_AFTER_BYTES = 64 * 1024;

export function bids({ root, disk, peer, fold }: BidsOptions): Bids {
  const events = path.join(root, 'events');
  const saved = path.join(root, '.guild', 'records.json');
  const cache = path.join(root, '.guild', 'cache', 'bids');
  let folded: Folded | undefined;
  let unsavedBytes = 0;

  return {
    records() {
      folded ??= load();
      if (hasShrunk(folded)) folded = fresh();
      for (const name of eventFiles()) readMore(folded, name);
      if (unsavedBytes >= SAVE_AFTER_BYTES) save(folded);
      return folded.records;
    },
    known(key) {
      return asBid(readJson(path.join(cache, `${key}.json`)));
    },
    keep(key, bid) {
      replace(path.join(cache, `${key}.json`), JSON.stringify(bid));
    },
  };

  function load(): Folded {
    const json = readJson(saved) as Partial<Folded> | undefined;
    const isValid = json?.version === VERSION && typeof json.read === 'object' && typeof json.records === 'object';
    return isValid ? (json as Folded) : fresh();
  }

  function fresh(): Folded {
    return { version: VERSION, read: {}, records: {} };
  }

  function eventFiles(): string[] {
    return disk
      .list(events)
      .filter((name) => name.endsWith('.jsonl'))
      .sort();
  }

  /**
   * An event file shrinks only if a person restored an earlier state: fold from the start again.
   */
  function hasShrunk({ read }: Folded): boolean {
    return Object.entries(read).some(([name, offset]) => sizeNow(name) < offset);
  }

  function sizeNow(name: string): number {
    const stamp = disk.stamp(path.join(events, name));
    return stamp === undefined ? 0 : sizeOf(stamp);
  }

  function readMore(into: Folded, name: string): void {
    const offset = into.read[name] ?? 0;
    if (sizeNow(name) <= offset) return;
    const tail = disk.readFrom(path.join(events, name), offset, MAX_NEW_BYTES);
    if (tail.kind !== 'file') return;
    const end = tail.bytes.lastIndexOf(10) + 1; // a last line without a newline is incomplete
    for (const line of tail.bytes.subarray(0, end).toString('utf8').split('\n'))
      if (line !== '') into.records = fold(into.records, parseEvent(line));
    into.read[name] = offset + end;
    unsavedBytes += end;
  }

  function save(state: Folded): void {
    unsavedBytes = 0;
    replace(saved, JSON.stringify(state));
  }

  /** Replaces the file atomically. Processes that race here write the same content. */
  function replace(file: string, text: string): void {
    disk.makeFolder(path.dirname(file));
    const tmp = `${file}.${peer}`;
    disk.remove(tmp);
    disk.create(tmp, `${text}\n`);
    disk.rename(tmp, file);
  }

  function readJson(file: string): unknown {
    const read = disk.read(file, 16 * 1024 * 1024);
    if (read.kind !== 'file') return undefined;
    return attempt(() => JSON.parse(read.bytes.toString('utf8')));
  }
}

/** A line torn by a power cut counts as an event without effect. */
function parseEvent(line: string): Event {
  return attempt(() => JSON.parse(line) as Event, { at: '', name: 'task.created' });
}

/** Knows no track record and no earlier bid. */
export function noBids(): Bids {
  return { records: () => ({}), known: () => undefined, keep() {} };
}
