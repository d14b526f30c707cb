/**
 * The parts of the event index as files. A day's file only grows, so its parts stay true, and only
 * what was added is parsed. Checksums of its ranges show any other change of the file.
 */
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { attempt } from '../../domain/attempt.js';
import { isSettled, stampOf, type Stamp } from './ended-files.js';
import { buildPart, readPart, type EventPart, type Meta } from './event-part.js';
import {
  indexFiles,
  openSections,
  removeAbandoned,
  removeQuietly,
  sectionsInMemory,
  writeSections,
} from './sections.js';

/** A range of a day's file that ends with a newline. */
export interface DayPart {
  from: number;
  to: number;
  part: EventPart;
  /** Creates the part again from the log, because it was damaged. */
  repair(): void;
}

export interface Day {
  file: string;
  parts: DayPart[];
}

interface DayOptions {
  root: string;
  /** The files of the log, oldest first; absent: all that are in the folder. */
  files?: readonly string[] | undefined;
  version: string;
  onProgress?: ((done: number, total: number) => void) | undefined;
  /** Smaller files are parsed each time. */
  leastBytes?: number;
  /** A file that still grows gets another part when it has grown by this much. */
  grownBytes?: number;
  /** The approximate size of the text that one part describes. */
  partBytes?: number;
  /** A file that has not changed for this long gets parts that describe all of it. */
  quietMs?: number;
}

interface StoredMeta extends Meta {
  from: number;
  to: number;
  checksum: number;
  /**
   * The stamp of the file when the range was read; absent if the file could change without a new
   * stamp.
   */
  stamp?: Stamp;
}

const FORMAT = 1;
const PREFIX = 'events-';
const LEAST_BYTES = 64 * 1024;
const GROWN_BYTES = 256 * 1024;
const PART_BYTES = 8 * 1024 * 1024;
const QUIET_MS = 10 * 60 * 1000;

export function eventDays(options: DayOptions): () => Day[] {
  const { root, version, onProgress, leastBytes = LEAST_BYTES } = options;
  const { grownBytes = GROWN_BYTES, partBytes = PART_BYTES, quietMs = QUIET_MS } = options;
  const folder = path.join(root, '.guild', 'index');
  const log = path.join(root, 'events');
  const by = `events ${FORMAT} ${version}`;
  const partFile = (day: string, from: number): string =>
    path.join(folder, `${PREFIX}${day}-${String(from).padStart(12, '0')}`);

  return () => {
    const names = options.files ?? daysIn(log);
    const stored = storedParts(new Set(names));
    const sizes = names.map((name) => stampOf(path.join(log, name))?.[1] ?? 0);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let before = 0;
    let isReported = false;
    const days = names.flatMap((name, i) => {
      const day = lookAtDay(name, stored.get(name) ?? [], (done) => {
        isReported = true;
        onProgress?.(before + done, total);
      });
      before += sizes[i]!;
      return day ?? [];
    });
    if (isReported) onProgress?.(total, total);
    return days;
  };

  function storedParts(days: ReadonlySet<string>): Map<string, string[]> {
    const parts = new Map<string, string[]>();
    for (const name of indexFiles(folder, PREFIX).sort()) {
      const day = /^events-(.+)-\d{12}$/.exec(name)?.[1];
      if (day === undefined || !days.has(day)) removeQuietly(path.join(folder, name));
      else parts.set(day, [...(parts.get(day) ?? []), path.join(folder, name)]);
    }
    return parts;
  }

  function lookAtDay(name: string, stored: readonly string[], progress: (done: number) => void): Day | undefined {
    const file = path.join(log, name);
    const stamp = stampOf(file);
    const fd = stamp && openFile(file);
    if (stamp === undefined || fd === undefined) return undefined;
    try {
      const size = stamp[1];
      const isQuiet = Date.now() - Math.max(stamp[2], stamp[3]) > quietMs;
      const { parts: sound, isCurrent } = soundParts(fd, stored, stamp);
      let parts = sound;
      const end = (): number => parts.at(-1)?.to ?? 0;
      const isWorthIt = size >= leastBytes && (isQuiet ? !isCurrent : size - end() >= grownBytes);
      if (isWorthIt && isQuiet) parts = [];
      const first = parts.length;
      for (let more = true; more;) {
        const added = nextPart(fd, file, end(), size);
        if (added === undefined) more = false;
        else parts.push(isWorthIt ? keep(name, added, stamp) : added);
        if (isWorthIt) progress(end());
      }
      if (isWorthIt) {
        const current = new Set(parts.map(({ from }) => partFile(name, from)));
        for (const old of stored) if (!current.has(old)) removeQuietly(old);
        if (first === 0) removeAbandoned(folder);
      }
      return { file, parts };
    } finally {
      fs.closeSync(fd);
    }
  }

  /** The stored parts that match the file, one after the other from its start. */
  function soundParts(fd: number, stored: readonly string[], stamp: Stamp): { parts: Built[]; isCurrent: boolean } {
    const parts: Built[] = [];
    const opened = stored.flatMap((file) => {
      const sections = openSections(file, by);
      if (sections === undefined) removeQuietly(file);
      return sections === undefined ? [] : { file, sections, meta: sections.meta as StoredMeta };
    });
    let end = 0;
    let isCurrent = opened.length > 0;
    for (const { sections, meta, file } of opened) {
      const isSame = meta.stamp?.every((number, i) => number === stamp[i]) === true;
      const isInPlace = meta.from === end && meta.to <= stamp[1];
      isCurrent &&= isSame && isInPlace;
      if (isInPlace && (isSame || checksumOf(fd, meta.from, meta.to) === meta.checksum)) {
        end = meta.to;
        parts.push(built(readPart(sections), meta, path.join(log, dayOf(file)), () => removeQuietly(file)));
      }
    }
    return { parts, isCurrent };
  }

  /** Parses the next range in memory; undefined at the end of the complete lines. */
  function nextPart(fd: number, file: string, from: number, size: number): Built | undefined {
    let length = partBytes;
    let bytes = readRange(fd, from, Math.min(size, from + length));
    // A line may be longer than a part.
    while (!bytes.includes(10) && from + length < size)
      bytes = readRange(fd, from, Math.min(size, from + (length *= 2)));
    const end = bytes.lastIndexOf(10) + 1;
    return end === 0 ? undefined : inMemory(bytes.subarray(0, end), from, file);
  }

  /** The part as a file; the part in memory if it cannot be written. */
  function keep(day: string, { from, to, made, ...rest }: Built, stamp: Stamp): Built {
    const known = made!;
    const meta: StoredMeta = {
      ...known.meta,
      from,
      to,
      checksum: known.checksum,
      ...(isSettled(stamp, known.atMs) ? { stamp } : {}),
    };
    const file = partFile(day, from);
    const written = writeSections(file, by, meta, known.sections);
    if (written === undefined) return { from, to, ...rest };
    return built(readPart(written), meta, path.join(log, day), () => removeQuietly(file));
  }
}

interface Built extends DayPart {
  made?: { meta: Meta; sections: Map<string, Buffer>; checksum: number; atMs: number };
}

function built(part: EventPart, { from, to }: { from: number; to: number }, file: string, drop: () => void): Built {
  const made: Built = {
    from,
    to,
    part,
    repair() {
      drop();
      const fd = openFile(file);
      const bytes = fd === undefined ? Buffer.alloc(0) : readRange(fd, from, to);
      if (fd !== undefined) fs.closeSync(fd);
      const { meta, sections } = buildPart(bytes.subarray(0, bytes.lastIndexOf(10) + 1));
      made.part = readPart(sectionsInMemory(meta, sections));
    },
  };
  return made;
}

function inMemory(bytes: Buffer, from: number, file: string): Built {
  const atMs = Date.now();
  const { meta, sections } = buildPart(bytes);
  const part = readPart(sectionsInMemory(meta, sections));
  const range = { from, to: from + bytes.length };
  const made = { meta, sections, checksum: zlib.crc32(bytes), atMs };
  return { ...built(part, range, file, () => undefined), made };
}

function daysIn(log: string): string[] {
  return attempt(
    () =>
      fs
        .readdirSync(log)
        .filter((name) => name.endsWith('.jsonl'))
        .sort(),
    [],
  );
}

function dayOf(partFile: string): string {
  return path.basename(partFile).slice(PREFIX.length, -'-000000000000'.length);
}

/** Undefined unless it is a file that can be read; a link does not count. */
export function openFile(file: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  try {
    const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fs.fstatSync(fd).isFile()) return fd;
    fs.closeSync(fd);
  } catch {
    // missing, a link, or no permission
  }
  return undefined;
}

export function readRange(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(to - from);
  let done = 0;
  while (done < bytes.length) {
    const count = fs.readSync(fd, bytes, done, bytes.length - done, from + done);
    if (count === 0) return bytes.subarray(0, done);
    done += count;
  }
  return bytes;
}

function checksumOf(fd: number, from: number, to: number): number {
  let checksum = 0;
  for (let at = from; at < to; at += PART_BYTES)
    checksum = zlib.crc32(readRange(fd, at, Math.min(to, at + PART_BYTES)), checksum);
  return checksum;
}
