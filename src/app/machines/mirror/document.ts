/**
 * Files of a workspace that are kept in the ledger as they are: memory, boards, inboxes, and files
 * whose bytes do not follow from their record because a person wrote them.
 */
import { defined } from '../../../domain/defined.js';
import type { Entry, Put } from '../../../ports/ledger.js';
import { DOCUMENT } from '../../far/shared-texts.js';

export { DOCUMENT };

export interface Document {
  path: string;
  bytes: Buffer;
  /** The sum of the record that the file follows from, when the file had these bytes. */
  of?: string;
}

export function documentPut({ path, bytes, of }: Document): Put {
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(bytes);
  const content = isText ? { text } : { base64: bytes.toString('base64') };
  return { key: DOCUMENT + path, value: JSON.stringify({ ...content, ...(of ? { of } : {}) }), expect: 0, live: false };
}

export function documentOf({ key, value }: Entry): Document | undefined {
  if (value === '') return undefined;
  const { text, base64, of } = JSON.parse(value) as { text?: string; base64?: string; of?: string };
  const bytes = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text, 'utf8');
  return defined({ path: key.slice(DOCUMENT.length), bytes, of });
}
