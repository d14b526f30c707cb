/**
 * A conversation that only grew since it was read: the part that was added is parsed, and nothing
 * else. A checksum shows whether the part that was read before is unchanged. The status in the
 * header, which any process patches in place, does not count in it.
 */
import { crc32 } from 'node:zlib';
import type { Message, Session } from '../../domain/session/session.js';
import { decodeUtf8 } from '../../text/lines/utf8.js';
import { headLength, hasFurtherKey, statusSpan, type parseSession } from '../../text/session/parse.js';

/** Facts about the bytes of a conversation. */
export interface Prefix {
  bytes: number;
  /** Bytes up to the first message. */
  head: number;
  sum: number;
}

interface Known {
  session: Session;
  place: { indent: number; before: string };
  prefix?: Prefix | undefined;
}

interface Grown extends Known {
  added: Message[];
  prefix: Prefix;
}

/** The prefix of a whole conversation; undefined if it has no list of messages. */
export function prefixOf(text: string): Prefix | undefined {
  const length = headLength(text);
  if (length === undefined) return undefined;
  const bytes = Buffer.from(text);
  const head = Buffer.byteLength(text.slice(0, length));
  return { bytes: bytes.length, head, sum: sumOf(bytes, head) };
}

/** The prefix after this text was appended. */
export function extended(prefix: Prefix | undefined, text: string): Prefix | undefined {
  if (prefix === undefined) return undefined;
  return { ...prefix, bytes: prefix.bytes + Buffer.byteLength(text), sum: crc32(text, prefix.sum) };
}

/** Undefined: the whole file must be parsed. */
export function grownSession(
  { session, place, prefix }: Known,
  bytes: Buffer,
  parse: (text: string) => ReturnType<typeof parseSession>,
): Grown | undefined {
  if (prefix === undefined || place.before !== '' || bytes.length < prefix.bytes) return undefined;
  if (sumOf(bytes.subarray(0, prefix.bytes), prefix.head) !== prefix.sum) return undefined;
  const tail = decodeUtf8(bytes.subarray(prefix.bytes));
  if (typeof tail !== 'string' || !isOnlyItems(tail, place.indent)) return undefined;
  const { messages } = session;
  // A stand-in for the earlier messages, because the first message of a conversation is read
  // differently.
  const before = messages.length > 0 && tail !== '' ? `${' '.repeat(place.indent)}- role: user\n` : '';
  const parsed = parse(bytes.toString('utf8', 0, prefix.head) + before + tail);
  if (!parsed.ok) return undefined;
  const added = parsed.session.messages.slice(before === '' ? 0 : 1);
  return {
    session: { header: parsed.session.header, messages: [...messages, ...added] },
    added,
    place: { ...place, before: tail === '' || tail.endsWith('\n') ? '' : '\n' },
    prefix: extended(prefix, tail)!,
  };
}

/** Anything else could belong to the item before it, or to the header. */
function isOnlyItems(tail: string, indent: number): boolean {
  if (tail === '') return true;
  return new RegExp(`^ {${indent}}-[ \\r\\n]`).test(tail) && !hasFurtherKey(tail);
}

function sumOf(bytes: Buffer, headBytes: number): number {
  const head = Buffer.from(bytes.subarray(0, headBytes));
  const span = statusSpan(head.toString('utf8'));
  if (span !== undefined) head.fill(' ', span.offset, span.offset + span.length);
  return crc32(bytes.subarray(headBytes), crc32(head));
}
