/**
 * The file format of the index: a header and named sections, each with a checksum, so that a
 * damaged, torn or foreign file is noticed, and only the needed sections are read.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { attempt } from '../../domain/attempt.js';

export interface Sections {
  readonly meta: unknown;
  read(name: string): Buffer | undefined;
}

/** Sections that are not on the disk. */
export function sectionsInMemory(meta: unknown, sections: ReadonlyMap<string, Buffer>): Sections {
  return { meta, read: (name) => sections.get(name) };
}

const MAGIC = Buffer.from('GUILDIDX');
const HEAD_BYTES = MAGIC.length + 8;
const MAX_HEADER_BYTES = 16 * 1024 * 1024;

interface Header {
  /** The version of the format and of the program. */
  by: string;
  meta: unknown;
  /** Name, length and checksum, in the order of the file. */
  sections: [string, number, number][];
}

/**
 * Undefined if it is not a file of this version, or its header is damaged. The file is opened again
 * for each section; if another process has replaced it meanwhile, the checksum shows it.
 */
export function openSections(file: string, by: string): Sections | undefined {
  return withFile(file, (fd) => {
    const head = readAt(fd, 0, HEAD_BYTES);
    if (head === undefined || !head.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
    const length = head.readUInt32LE(MAGIC.length);
    const json = length > MAX_HEADER_BYTES ? undefined : readAt(fd, HEAD_BYTES, length);
    if (json === undefined || zlib.crc32(json) !== head.readUInt32LE(MAGIC.length + 4)) return undefined;
    const header = JSON.parse(json.toString('utf8')) as Header;
    return header.by === by ? sectionsOf(file, header, length) : undefined;
  });
}

function sectionsOf(file: string, header: Header, headerBytes: number): Sections {
  const places = new Map<string, { from: number; length: number; checksum: number }>();
  let from = HEAD_BYTES + headerBytes;
  for (const [name, length, checksum] of header.sections) {
    places.set(name, { from, length, checksum });
    from += length;
  }
  return {
    meta: header.meta,
    read(name) {
      const place = places.get(name);
      const bytes = place && withFile(file, (fd) => readAt(fd, place.from, place.length));
      return bytes !== undefined && zlib.crc32(bytes) === place!.checksum ? bytes : undefined;
    },
  };
}

function withFile<T>(file: string, read: (fd: number) => T | undefined): T | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  let fd: number | undefined;
  try {
    fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return read(fd);
  } catch {
    return undefined; // missing, foreign, or not readable
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Undefined if the file is shorter. The buffer is aligned for typed arrays. */
function readAt(fd: number, from: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  try {
    while (done < length) {
      const count = fs.readSync(fd, bytes, done, length - done, from + done);
      if (count === 0) return undefined;
      done += count;
    }
  } catch {
    return undefined;
  }
  return bytes;
}

/**
 * Replaces the file in one step and returns its sections. Undefined if it cannot be written, which
 * is harmless for a cache. Nothing is synced, because a torn file is noticed.
 */
export function writeSections(
  file: string,
  by: string,
  meta: unknown,
  sections: ReadonlyMap<string, Buffer>,
): Sections | undefined {
  const list = [...sections].map(
    ([name, bytes]) => [name, bytes.length, zlib.crc32(bytes)] as [string, number, number],
  );
  const header: Header = { by, meta, sections: list };
  const json = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(json.length, MAGIC.length);
  head.writeUInt32LE(zlib.crc32(json), MAGIC.length + 4);
  const temp = path.join(path.dirname(file), `${TEMP}${randomBytes(6).toString('hex')}`);
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(temp, Buffer.concat([head, json, ...sections.values()]), { flag: 'wx', mode: 0o600 });
    fs.renameSync(temp, file);
    return sectionsOf(file, header, json.length);
  } catch {
    removeQuietly(temp);
    return undefined;
  }
}

const TEMP = '.tmp-';
const ABANDONED_MS = 60 * 60 * 1000;

/** The files of the index, without those that are being written. */
export function indexFiles(folder: string, prefix: string): string[] {
  return attempt(() => fs.readdirSync(folder).filter((name) => name.startsWith(prefix)), []);
}

/** Removes the leftovers of processes that died while they wrote. */
export function removeAbandoned(folder: string): void {
  for (const name of indexFiles(folder, TEMP)) {
    const file = path.join(folder, name);
    try {
      if (Date.now() - fs.lstatSync(file).mtimeMs > ABANDONED_MS) removeQuietly(file);
    } catch {
      // gone meanwhile
    }
  }
}

export function removeQuietly(file: string): void {
  try {
    fs.unlinkSync(file);
  } catch {
    // missing, or not removable: it is noticed again
  }
}
