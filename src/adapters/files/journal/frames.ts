/**
 * Lines of a journal: length, checksum, number and JSON. The checksum covers the name of the
 * journal too, so that bytes of another journal in a reused file never count. Reading stops at the
 * first line that is not whole, and never skips one.
 */
import { crc32 } from 'node:zlib';
import type { ProcessIdentity } from '../../../ports/processes.js';
import type { Step } from './step.js';

/** The first line of each file of a journal. */
export interface Header {
  journal: number;
  peer: string;
  owner: ProcessIdentity;
  /** The number of this file in its journal. */
  segment: number;
  /** The inode of the folder. In another folder this is a copy, which no process writes to. */
  place?: string;
}

export const JOURNAL_VERSION = 2;

export type Line = { n: number; header: Header } | { n: number; step: Step };

export function printLine(peer: string, n: number, value: Header | Step): Buffer {
  const json = Buffer.from(JSON.stringify(value));
  const head = `${json.length.toString(16).padStart(8, '0')} ${checksum(peer, n, json)} ${n} `;
  return Buffer.concat([Buffer.from(head), json, NEWLINE]);
}

const NEWLINE = Buffer.from('\n');
const HEAD = /^([0-9a-f]{8}) ([0-9a-f]{8}) (\d{1,15}) /;

/** The whole lines at the start of these bytes. */
export function readLines(bytes: Buffer, peer: string, most = Infinity): Line[] {
  const lines: Line[] = [];
  let at = 0;
  while (at < bytes.length && lines.length < most) {
    const line = lineAt(bytes, at, peer);
    if (line === undefined || (lines.length > 0 && line.n !== lines.at(-1)!.n + 1)) break;
    lines.push('journal' in line.value ? { n: line.n, header: line.value } : { n: line.n, step: line.value });
    at = line.end;
  }
  return lines;
}

function lineAt(bytes: Buffer, at: number, peer: string): { n: number; value: Header | Step; end: number } | undefined {
  const head = HEAD.exec(bytes.toString('latin1', at, at + 34));
  if (head === null) return undefined;
  const n = Number(head[3]);
  const from = at + head[0].length;
  const end = from + Number.parseInt(head[1]!, 16);
  if (end >= bytes.length || bytes[end] !== 10) return undefined;
  const json = bytes.subarray(from, end);
  if (checksum(peer, n, json) !== head[2]) return undefined;
  return { n, value: JSON.parse(json.toString('utf8')) as Header | Step, end: end + 1 };
}

function checksum(peer: string, n: number, json: Buffer): string {
  return crc32(json, crc32(`${peer} ${n}`))
    .toString(16)
    .padStart(8, '0');
}
