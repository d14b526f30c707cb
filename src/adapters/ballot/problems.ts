/** Reads the ballot strictly, and says why a whole ballot does not count. */
import { problem, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import { decodeUtf8 } from '../../text/lines/utf8.js';
import { whereAt } from '../../text/lines/where.js';

/** Enough for about ten thousand entries. */
const MAX_BYTES = 8 * 1024 * 1024;
/** The program never writes more, so that marks and fates still fit and the file is read again. */
export const MAX_WRITTEN_BYTES = MAX_BYTES - 512 * 1024;

/** Undefined if there is no ballot. A ballot that cannot be read is never overwritten. */
export function readContent(disk: Disk, path: string, file: string): string | Problem | undefined {
  const read = disk.read(path, MAX_BYTES);
  if (read.kind === 'missing') return undefined;
  if (read.kind !== 'file') {
    const reason =
      read.kind === 'too_big' ? `has ${read.size} bytes; the limit is ${MAX_BYTES}` : `is a ${read.what}, not a file`;
    return held(
      `${file} ${reason}`,
      { file },
      'delete answered entries or move the file away; guild approve still works',
    );
  }
  const text = decodeUtf8(read.bytes);
  if (typeof text === 'string') return text;
  const message = `line ${text.line} of ${file} is not UTF-8 text`;
  return held(message, { file, line: text.line }, 'save the file as UTF-8; guild approve still works');
}

function held(message: string, where: NonNullable<Problem['where']>, hint: string): Problem {
  return problem('bad_file', `${message}: its marks do not count and it is not updated`, { where, hint });
}

export function emptied(file: string): Problem {
  return problem('bad_file', `${file} is empty: nothing is withdrawn, and the open requests are written again`, {
    where: { file, line: 1 },
    hint: 'mark an entry with [-] to reject it',
  });
}

/** Does not report a ballot of an earlier build, which had neither digests nor an end line. */
export function cutOff(file: string, text: string): Problem[] {
  if (!/^[ \t]+digest: /m.test(text)) return [];
  const message = `${file} lacks its last line: its marks count, nothing is withdrawn, and the line is written again`;
  return [
    problem('bad_file', message, {
      where: whereAt(file, text, text.trimEnd().length),
      hint: 'keep the last line of the file; mark an entry with [-] to reject it',
    }),
  ];
}

export function full(file: string, left: number): Problem {
  const message = `${file} is full: ${left} more ${left === 1 ? 'request waits' : 'requests wait'} and cannot be shown in it`;
  return problem('over_limit', message, {
    where: { file },
    hint: 'answer entries, or delete answered ones; guild approve shows every request',
  });
}

export function whileExposed(file: string): Problem {
  const message = 'changed while a command ran without a sandbox, so its marks do not count; answer again';
  return problem('not_allowed', message, {
    where: { file },
    hint: 'install bubblewrap to run commands in a sandbox',
  });
}
