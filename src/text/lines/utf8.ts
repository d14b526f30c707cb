/**
 * The strict reader of text: bytes that are not UTF-8 are an error with a place, never replaced.
 * Text that was read in any other way must not be written back.
 */
import { problem, type Problem } from '../../domain/problem.js';

/** The place of the first byte that is not UTF-8. */
export interface NotUtf8 {
  /** 1-based. */
  line: number;
  column: number;
  /** The readable text of this line before it. */
  source: string;
}

/** A byte order mark is kept, so that writing the text back changes nothing. */
export function decodeUtf8(bytes: Uint8Array): string | NotUtf8 {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  // Valid text may contain the replacement character, so only the strict decoder knows.
  if (!text.includes('\uFFFD')) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return placeIn(bytes);
  }
}

function placeIn(bytes: Uint8Array): NotUtf8 {
  // Decoded as a stream, so that the start of an unfinished character is not part of the text.
  const text = new TextDecoder('utf-8').decode(bytes.subarray(0, firstBad(bytes)), { stream: true });
  const lineStart = text.lastIndexOf('\n') + 1;
  const source = text.slice(lineStart);
  return { line: text.split('\n').length, column: source.length + 1, source };
}

/** The number of bytes at the start that are valid, found by halving. */
function firstBad(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isPrefix(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

/** Whether the bytes are valid, except that the last character may be unfinished. */
function isPrefix(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

export function notUtf8(file: string, { line, column, source }: NotUtf8): Problem {
  return problem('bad_file', 'this byte is not UTF-8 text', {
    where: { file, line, column, source },
    hint: 'save the file as UTF-8; nothing in it is used or changed until then',
  });
}
