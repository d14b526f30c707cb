/**
 * The strict reader for every text that the program may write back: bytes that are not UTF-8 are a
 * problem with its line, never replaced. A byte order mark stays in the text.
 */
import { attempt } from '../../domain/attempt.js';
import { problem, type Problem } from '../../domain/problem.js';

export function strictText(bytes: Uint8Array, file: string): string | Problem {
  const text = decoded(bytes);
  if (text !== undefined) return text;
  const line = firstBadLine(bytes);
  return problem('bad_file', `line ${line} of ${file} is not UTF-8 text`, {
    where: { file, line },
    hint: 'save the file as UTF-8',
  });
}

function decoded(bytes: Uint8Array): string | undefined {
  return attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
}

/** No part of a character of several bytes is a line feed, so lines can be decoded one by one. */
function firstBadLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    if (decoded(bytes.subarray(start, end)) === undefined) break;
    start = end;
  }
  return line;
}
