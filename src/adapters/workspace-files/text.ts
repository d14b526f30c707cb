/** Decodes bytes strictly as UTF-8, without guessing other encodings. */
import { attempt } from '../../domain/attempt.js';

/** Undefined if the bytes are not text. With `cut`, a torn last character is dropped. */
export function asText(bytes: Uint8Array, cut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut }));
}

export function notText(bytes: Uint8Array): string {
  return bytes.includes(0) ? 'it is a binary file, not text' : 'it is not UTF-8 text';
}
