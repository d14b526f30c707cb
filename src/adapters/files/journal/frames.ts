/**
 * Lines of a journal: length, checksum, number and JSON, which is compressed if it is long. The
 * checksum covers the name of the journal too, so that bytes of another journal in a reused file
 * never count. Reading stops at the first line that is not whole, and never skips one.
 */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ProcessIdentity } from '../../../ports/processes.js';
import type { Step } from './step.js';

/** The first line of each file of a journal. */
export interface Header {
  journal: number;
  peer: string;
  owner: ProcessIdentity;
  segment: number;
  /** The inode of the folder. In another folder this is a copy, which no process writes to. */
  place?: string;
}

/** Version 2 compressed nothing. */
export const JOURNAL_VERSION = 3;

export type Line = { n: number; header: Header } | { n: number; step: Step };

/**
 * Lines longer than this are compressed, which about halves them: a result is in its line three
 * times, as message, record and page. Space in a journal file is written twice, first as zeros, so
 * a long line is worth compressing and a short one is not.
 */
const COMPRESSED_BYTES = 1024;
/**
 * How many bytes the compressed lines that are read together may still have. Journals that came
 * from elsewhere must not fill the memory.
 */
export interface Room {
  left: number;
}

const ROOM_BYTES = 256 * 1024 * 1024;
/** Real lines have two to five times the bytes of their compressed form. */
const GROWTH = 16;

export function roomForLines(): Room {
  return { left: ROOM_BYTES };
}

export function printLine(peer: string, n: number, value: Header | Step): Buffer {
  const json = Buffer.from(JSON.stringify(value));
  const isLong = json.length >= COMPRESSED_BYTES;
  const body = isLong ? deflateRawSync(json, { level: 1 }) : json;
  const head = `${body.length.toString(16).padStart(8, '0')} ${checksum(peer, n, body)} ${n} ${isLong ? 'z ' : ''}`;
  return Buffer.concat([Buffer.from(head), body, NEWLINE]);
}

const NEWLINE = Buffer.from('\n');
const HEAD = /^([0-9a-f]{8}) ([0-9a-f]{8}) (\d{1,15}) (z )?/;

/** The whole lines at the start of these bytes. Throws a SyntaxError if they have no room. */
export function readLines(bytes: Buffer, peer: string, room = roomForLines()): Line[] {
  room.left += GROWTH * bytes.length;
  const lines: Line[] = [];
  let at = 0;
  while (at < bytes.length) {
    const line = lineAt(bytes, at, peer, room);
    if (line === undefined || (lines.length > 0 && line.n !== lines.at(-1)!.n + 1)) break;
    lines.push('journal' in line.value ? { n: line.n, header: line.value } : { n: line.n, step: line.value });
    at = line.end;
  }
  return lines;
}

/** The header of a journal, if these bytes begin with one. It is too short to be compressed. */
export function readHeader(bytes: Buffer, peer: string): Header | undefined {
  const value = lineAt(bytes, 0, peer, { left: 0 })?.value;
  return value !== undefined && 'journal' in value ? value : undefined;
}

interface Found {
  n: number;
  value: Header | Step;
  end: number;
}

function lineAt(bytes: Buffer, at: number, peer: string, room: Room): Found | undefined {
  const head = HEAD.exec(bytes.toString('latin1', at, at + 36));
  if (head === null) return undefined;
  const n = Number(head[3]);
  const from = at + head[0].length;
  const end = from + Number.parseInt(head[1]!, 16);
  if (end >= bytes.length || bytes[end] !== 10) return undefined;
  const body = bytes.subarray(from, end);
  if (checksum(peer, n, body) !== head[2]) return undefined;
  const json = head[4] === undefined ? body : inflated(body, room);
  return { n, value: JSON.parse(json.toString('utf8')) as Header | Step, end: end + 1 };
}

function inflated(body: Buffer, room: Room): Buffer {
  try {
    const line = inflateRawSync(body, { maxOutputLength: Math.max(1, room.left) });
    room.left -= line.length;
    return line;
  } catch {
    throw new SyntaxError('its lines cannot be decompressed, or have too many bytes');
  }
}

function checksum(peer: string, n: number, body: Buffer): string {
  return crc32(body, crc32(`${peer} ${n}`))
    .toString(16)
    .padStart(8, '0');
}
