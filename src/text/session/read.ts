/** The text of a conversation file, from its bytes. Bytes that are not UTF-8 are never replaced. */
import { decodeUtf8, type NotUtf8 } from '../lines/utf8.js';
import { repairTail } from './tail.js';

/** `torn`: the half-written end that was left out. */
type SessionText = { ok: true; text: string; torn?: Uint8Array } | { ok: false; at: NotUtf8 };

/** `repair`: the writer died, so the end may be half written. */
export function readSessionText(bytes: Buffer, repair: boolean): SessionText {
  const decoded = decodeUtf8(bytes);
  if (!repair) return typeof decoded === 'string' ? { ok: true, text: decoded } : { ok: false, at: decoded };
  const { kept, torn } = repairTail(typeof decoded === 'string' ? decoded : bytes.toString('utf8'));
  if (typeof decoded === 'string')
    return torn === '' ? { ok: true, text: decoded } : { ok: true, text: kept, torn: Buffer.from(torn) };
  // A crash may cut a character in half, but only in the end that is left out.
  const start = Buffer.from(kept.replace(/\n$/, ''));
  const isWhole = torn !== '' && bytes.subarray(0, start.length).equals(start);
  return isWhole ? { ok: true, text: kept, torn: bytes.subarray(start.length) } : { ok: false, at: decoded };
}
