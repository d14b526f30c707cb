/**
 * Files of a workspace that are kept in the ledger as they are: memory, boards, inboxes, and files
 * that a person wrote, whose bytes cannot be derived from a record.
 */
import { attempt } from '../../../domain/attempt.js';
import { defined } from '../../../domain/defined.js';
import type { Entry, Put } from '../../../ports/ledger.js';
import { DOCUMENT } from '../../far/shared-texts.js';

export { DOCUMENT };

export interface Document {
  path: string;
  bytes: Buffer;
  /** Checksum of the record that the file was rendered from, as of these bytes. */
  of?: string;
  /** The outside sources that influenced whoever wrote it. */
  taint?: readonly string[];
}

export function documentPut({ path, bytes, of, taint = [] }: Document): Put {
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(bytes);
  const content = isText ? { text } : { base64: bytes.toString('base64') };
  const value = defined({ ...content, of, taint: taint.length === 0 ? undefined : taint });
  return { key: DOCUMENT + path, value: JSON.stringify(value), expect: 0, live: false };
}

/** Undefined if the file was deleted, or the entry is not a document: any worker can write one. */
export function documentOf({ key, value }: Entry): Document | undefined {
  const { text, base64, of, taint } = parsed(value);
  if (typeof text !== 'string' && typeof base64 !== 'string') return undefined;
  const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : Buffer.from(base64 as string, 'base64');
  return defined({
    path: key.slice(DOCUMENT.length),
    bytes,
    of: typeof of === 'string' ? of : undefined,
    taint: taintOf(taint),
  });
}

function parsed(value: string): Record<string, unknown> {
  return attempt(() => ({ ...(JSON.parse(value) as Record<string, unknown>) }), {});
}

/** A list that cannot be read still means that the text came from outside. */
function taintOf(taint: unknown): string[] | undefined {
  if (taint === undefined) return undefined;
  const isList = Array.isArray(taint) && taint.every((source) => typeof source === 'string');
  return isList ? taint : ['unknown'];
}
