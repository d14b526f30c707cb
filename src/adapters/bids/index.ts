/**
 * Track records and earlier bids, under `.guild/`. `records.json` is the fold of `events/*.jsonl` up to the place it names in each file, so a
 * look reads only what was added since, any process may write it, and without it the fold begins anew. A bid lies in `cache/bids/`.
 */
import path from 'node:path';
import { asBid } from '../../domain/task/bid.js';
import type { Event } from '../../domain/event.js';
import type { TrackRecords } from '../../domain/agent/track-record.js';
import { sizeOf } from '../../domain/stamp.js';
import type { Bids } from '../../ports/bids.js';
import type { Disk } from '../../ports/disk.js';

export interface BidsOptions {
  root: string;
  disk: Disk;
  peer: string;
  /** One more line of history in the records. */
  fold: (records: TrackRecords, event: Event) => TrackRecords;
}

interface Folded {
  version: number;
  /** How far each file of events was read, in bytes. */
  read: Record<string, number>;
  records: TrackRecords;
}

const VERSION = 1;
/** Of one day; more than that is not looked at, and the records stay as they are. */
const MAX_NEW = 512 * 1024 * 1024;
/** What was read is kept when this much is new; until then every process reads it itself. */
const KEEP_AFTER = 64 * 1024;

export function bids({ root, disk, peer, fold }: BidsOptions): Bids {
  const events = path.join(root, 'events');
  const kept = path.join(root, '.guild', 'records.json');
  const cache = path.join(root, '.guild', 'cache', 'bids');
  let folded: Folded | undefined;
  let unkept = 0;

  return {
    records() {
      folded ??= load();
      if (hasShrunk(folded)) folded = fresh();
      for (const name of eventFiles()) readOn(folded, name);
      if (unkept >= KEEP_AFTER) keepFold(folded);
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
    const found = readJson(kept) as Partial<Folded> | undefined;
    const whole = found?.version === VERSION && typeof found.read === 'object' && typeof found.records === 'object';
    return whole ? (found as Folded) : fresh();
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

  /** A person went back to an earlier state of the folder: what was folded is not true any more. */
  function hasShrunk({ read }: Folded): boolean {
    return Object.entries(read).some(([name, at]) => sizeNow(name) < at);
  }

  function sizeNow(name: string): number {
    const stamp = disk.stamp(path.join(events, name));
    return stamp === undefined ? 0 : sizeOf(stamp);
  }

  function readOn(into: Folded, name: string): void {
    const at = into.read[name] ?? 0;
    if (sizeOf(name) <= at) return;
    const found = disk.readFrom(path.join(events, name), at, MAX_NEW);
    if (found.kind !== 'file') return;
    const end = found.bytes.lastIndexOf(10) + 1; // a last line without newline is not yet a line
    for (const line of found.bytes.subarray(0, end).toString('utf8').split('\n'))
      if (line !== '') into.records = fold(into.records, parsed(line));
    into.read[name] = at + end;
    unkept += end;
  }

  function keepFold(what: Folded): void {
    unkept = 0;
    replace(kept, JSON.stringify(what));
  }

  /** Whole or not at all; two processes write the same. */
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
    try {
      return JSON.parse(read.bytes.toString('utf8'));
    } catch {
      return undefined;
    }
  }
}

/** A torn line of a power cut says nothing. */
function parsed(line: string): Event {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return { at: '', name: 'task.created' };
  }
}
