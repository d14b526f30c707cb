/**
 * A stamp of each file at the last commit, so that people's changes are found without reading
 * everything. A compact file: a hash table that is loaded as it is, then 16 bytes for each file
 * that changed since. It may be deleted at any time; it is then rebuilt from the commit, and files
 * are compared by content.
 */
import fs from 'node:fs';
import path from 'node:path';

export interface Entry {
  /** A hash of the file's size, times and inode; 0 if it must be compared by content. */
  stamp: number;
  /** The minute by which history stores it; `PLAIN` or `EXTRA` if it is not stored by time. */
  minute: number;
}

export const PLAIN = 0;
/** A file outside the covered folders that a tool wrote. */
export const EXTRA = 1;

/**
 * `plain`: in a covered folder. `extra`: elsewhere, written by a tool. `timed`: recognised by its
 * time alone.
 */
type Kind = 'plain' | 'extra' | 'timed';

export interface Stamps {
  /** The first 16 digits of the commit that these stamps describe; empty if none. */
  commit(): string;
  get(file: string): Entry | undefined;
  set(file: string, entry: Entry): void;
  remove(file: string): void;
  /** Forgets everything. */
  clear(): void;
  count(kind: Kind): number;
  /** The number of files by the minute of their last change, from this minute on. */
  minutes(from: number): Map<number, number>;
  /** Appends the entries set since the last save; the file then describes this commit. */
  save(commit: string): void;
}

const WORDS = 4;
const GONE = 0xffffffff;
const MARK = 0xfffffffe;
/**
 * The last word of the two records before a table. They hold its slots, the slots in use, and its
 * counts.
 */
const TABLE = 0xfffffffd;
/** The table is rewritten when more than `SLACK` plus an eighth of its size was appended to it. */
const SLACK = 4096;
const SLACK_SHARE = 8;

export function stamps(file: string): Stamps {
  let table = hashTable(0);
  let commit = '';
  let records = 0;
  let unsaved: number[] = [];
  let isStale = false;
  load();
  return {
    commit: () => commit,
    get: (name) => table.get(...hash(name)),
    set: (name, { stamp, minute }) => put(name, stamp, minute),
    remove(name) {
      if (table.get(...hash(name)) !== undefined) put(name, 0, GONE);
    },
    clear() {
      table = hashTable(0);
      unsaved = [];
      commit = '';
      isStale = true;
    },
    count: (kind) => table.counts[kind],
    minutes: (from) => table.minutes(from),
    save(id) {
      commit = id.slice(0, 16);
      const mark = [0, parseInt(commit.slice(0, 8), 16), parseInt(commit.slice(8), 16), MARK];
      if (isStale || records > SLACK + table.size() / SLACK_SHARE) rewrite(mark);
      else append([...unsaved, ...mark]);
      unsaved = [];
    },
  };

  function put(name: string, stamp: number, minute: number): void {
    const [high, low] = hash(name);
    table.set(high, low, stamp, minute);
    unsaved.push(high, low, stamp, minute);
  }

  function load(): void {
    const words = readWords(file);
    const from = words[3] === TABLE ? (2 + words[0]!) * WORDS : 0;
    isStale = true;
    if (from > words.length) return; // a part of the table is missing: start over
    table = from > 0 ? savedTable(words.subarray(0, from)) : hashTable(words.length / WORDS);
    for (let i = from; i < words.length; i += WORDS) {
      if (words[i + 3] === MARK) commit = hex(words[i + 1]!) + hex(words[i + 2]!);
      else table.set(words[i]!, words[i + 1]!, words[i + 2]!, words[i + 3]!);
    }
    records = (words.length - from) / WORDS;
    // Records after the last mark belong to a commit that may not exist.
    if (words.length > 0 && words.at(-1) !== MARK) commit = '';
    isStale = commit === '';
  }

  function append(words: number[]): void {
    fs.appendFileSync(file, Buffer.from(Uint32Array.from(words).buffer));
    records += words.length / WORDS;
  }

  function rewrite(mark: number[]): void {
    const kept = table.all();
    const words = new Uint32Array(kept.length + WORDS);
    words.set(kept);
    words.set(mark, kept.length);
    const temp = path.join(path.dirname(file), `stamps-${process.pid}.tmp`);
    fs.writeFileSync(temp, Buffer.from(words.buffer));
    fs.renameSync(temp, file);
    records = 1;
    isStale = false;
  }
}

/** Never 0, which means unknown. */
export function stampOf(stat: Pick<fs.Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>): number {
  let sum = 0x811c9dc5;
  for (const number of [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs]) {
    sum = Math.imul(sum ^ (number >>> 0), 0x01000193);
    sum = Math.imul(sum ^ Math.floor(number / 0x100000000), 0x01000193);
    sum = Math.imul(sum ^ Math.floor((number % 1) * 1_000_000), 0x01000193);
    sum ^= sum >>> 15;
  }
  return sum >>> 0 || 1;
}

interface HashTable {
  get(high: number, low: number): Entry | undefined;
  set(high: number, low: number, stamp: number, minute: number): void;
  counts: Readonly<Record<Kind, number>>;
  size(): number;
  minutes(from: number): Map<number, number>;
  /** As it is saved: two records about the table, then its slots. */
  all(): Uint32Array;
}

interface SavedTable {
  slots: Uint32Array;
  used: number;
  counts: Record<Kind, number>;
}

function savedTable(words: Uint32Array): HashTable {
  const [, used, , , plain, extra, timed] = words;
  const counts = { plain: plain!, extra: extra!, timed: timed! };
  return hashTable(0, { slots: words.subarray(2 * WORDS), used: used!, counts });
}

/** Open addressing in one array that is at most three quarters full. */
function hashTable(records: number, saved?: SavedTable): HashTable {
  let size = 64;
  while (size * 3 < records * 4) size *= 2;
  let slots = saved?.slots ?? new Uint32Array(size * WORDS);
  let used = saved?.used ?? 0;
  const counts: Record<Kind, number> = saved?.counts ?? { plain: 0, extra: 0, timed: 0 };
  return {
    get(high, low) {
      const at = find(slots, high, low);
      const minute = slots[at + 3]!;
      return isEmpty(slots, at) || minute === GONE ? undefined : { stamp: slots[at + 2]!, minute };
    },
    set(high, low, stamp, minute) {
      if (used * 4 * WORDS >= slots.length * 3) grow();
      const at = find(slots, high, low);
      if (isEmpty(slots, at)) used++;
      else tally(slots[at + 3]!, -1);
      slots[at] = high;
      slots[at + 1] = low;
      slots[at + 2] = stamp;
      slots[at + 3] = minute;
      tally(minute, 1);
    },
    counts,
    size: () => counts.plain + counts.extra + counts.timed,
    minutes(from) {
      const found = new Map<number, number>();
      for (let at = 3; at < slots.length; at += WORDS) {
        const minute = slots[at]!;
        if (minute >= from && minute > EXTRA && minute !== GONE) found.set(minute, (found.get(minute) ?? 0) + 1);
      }
      return found;
    },
    all() {
      const { plain, extra, timed } = counts;
      const words = new Uint32Array(2 * WORDS + slots.length);
      words.set([slots.length / WORDS, used, 0, TABLE, plain, extra, timed, TABLE]);
      words.set(slots, 2 * WORDS);
      return words;
    },
  };

  function tally(minute: number, by: number): void {
    if (minute !== GONE) counts[minute === PLAIN ? 'plain' : minute === EXTRA ? 'extra' : 'timed'] += by;
  }

  /** Copies the entries into a larger table, without files that are gone. */
  function grow(): void {
    const old = slots;
    used = 0;
    slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) {
      if (isEmpty(old, at) || old[at + 3] === GONE) continue;
      slots.set(old.subarray(at, at + WORDS), find(slots, old[at]!, old[at + 1]!));
      used++;
    }
  }
}

function find(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length / WORDS - 1;
  for (let slot = (high ^ low) & mask; ; slot = (slot + 1) & mask) {
    const at = slot * WORDS;
    if (isEmpty(slots, at) || (slots[at] === high && slots[at + 1] === low)) return at;
  }
}

function isEmpty(slots: Uint32Array, at: number): boolean {
  return slots[at] === 0 && slots[at + 1] === 0;
}

/** Two words, so that two files practically never have the same; never both 0. */
function hash(text: string): [number, number] {
  let high = 0x811c9dc5;
  let low = 0x9747b28c;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995);
    low ^= low >>> 13;
  }
  return [(high ^ (high >>> 16)) >>> 0 || 1, low >>> 0];
}

/** A record that a crash cut off is ignored. */
function readWords(file: string): Uint32Array {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(file);
  } catch {
    return new Uint32Array();
  }
  const whole = Math.floor(bytes.length / (WORDS * 4)) * WORDS * 4;
  const words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + whole));
  // Without its tail, the next record would be written at a wrong place: start over.
  return whole === bytes.length ? words : new Uint32Array();
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}
