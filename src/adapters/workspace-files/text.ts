/** Bytes as text, strictly: what is not UTF-8 is not guessed at. */

/** Undefined if these bytes are no text. `cut`: the last character may be torn and is then left out. */
export function asText(bytes: Uint8Array, cut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut });
  } catch {
    return undefined;
  }
}

export function notText(bytes: Uint8Array): string {
  return bytes.includes(0) ? 'it is a binary file, not text' : 'it is not UTF-8 text';
}
