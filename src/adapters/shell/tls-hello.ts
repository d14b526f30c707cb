/**
 * The first message of an encrypted connection names the site that it is for, in the open. Many
 * sites share an address, so this name decides which of them is reached.
 */
import { attempt } from '../../domain/attempt.js';

interface Hello {
  /** Undefined if it names no site, or cannot be read. */
  name: string | undefined;
}

const HANDSHAKE = 0x16;
const RECORD_HEADER = 5;
const MAX_RECORD = 16 * 1024;
const HELLO_HEADER = 4;
const VERSION_AND_RANDOM = 34;
const SERVER_NAME = 0;

/** `partial`: more bytes are needed. `other`: the connection does not begin with a hello. */
export function readHello(bytes: Buffer): Hello | 'partial' | 'other' {
  if (bytes.length === 0) return 'partial';
  if (bytes[0] !== HANDSHAKE) return 'other';
  if (bytes.length < RECORD_HEADER) return 'partial';
  const length = bytes.readUInt16BE(3);
  if (length > MAX_RECORD) return { name: undefined };
  if (bytes.length < RECORD_HEADER + length) return 'partial';
  const record = bytes.subarray(RECORD_HEADER, RECORD_HEADER + length);
  return { name: attempt(() => serverName(record)) };
}

/** Throws if the record ends too early. A hello in several records is not read. */
function serverName(record: Buffer): string | undefined {
  const reader = new Reader(record);
  const [type, size] = [reader.number(1), reader.number(3)];
  if (type !== 1 || size > record.length - HELLO_HEADER) return undefined;
  reader.skip(VERSION_AND_RANDOM);
  reader.skip(reader.number(1));
  reader.skip(reader.number(2));
  reader.skip(reader.number(1));
  const end = reader.number(2) + reader.at;
  const names: string[] = [];
  while (reader.at < end) {
    const [extension, bytes] = [reader.number(2), reader.number(2)];
    const next = reader.at + bytes;
    if (extension === SERVER_NAME) {
      reader.skip(3);
      names.push(reader.text(reader.number(2)));
      // A server might take another entry of the list than the first.
      if (reader.at !== next) return undefined;
    }
    reader.at = next;
  }
  return names.length === 1 ? names[0]!.toLowerCase() : undefined;
}

class Reader {
  at = 0;
  constructor(private readonly bytes: Buffer) {}

  number(size: number): number {
    this.at += size;
    return this.bytes.readUIntBE(this.at - size, size);
  }

  skip(size: number): void {
    this.at += size;
  }

  text(size: number): string {
    this.at += size;
    if (this.at > this.bytes.length) throw new RangeError('the record ends too early');
    return this.bytes.toString('latin1', this.at - size, this.at);
  }
}
