/**
 * A cassette as JSON lines, one entry each. Every line ends with a checksum over itself and all
 * earlier lines, so that an edited, lost or truncated line is detected.
 */
import {
  CASSETTE_VERSION,
  type CassetteEnd,
  type CassetteEntry,
  type CassetteHead,
} from '../../domain/session/cassette.js';
import { hash53 } from '../../domain/task/id.js';
import { problem, type Problem } from '../../domain/problem.js';

export interface Cassette {
  head: CassetteHead;
  entries: CassetteEntry[];
  end: CassetteEnd;
}

/** The line of an entry after the line with the checksum `before`; '' for the first. */
export function printEntry(entry: CassetteEntry, before: string): { line: string; sum: string } {
  const body = JSON.stringify(entry).slice(0, -1);
  const sum = hash53(`${before}\n${body}`);
  return { line: `${body},"sum":"${sum}"}\n`, sum };
}

export function parseCassette(text: string, file: string): Cassette | Problem {
  const lines = text.split('\n');
  const rest = lines.pop();
  const first = parse(lines[0] ?? rest ?? '');
  if (first === undefined || !('cassette' in first))
    return problem('bad_file', `${file} is not a cassette`, { where: { file }, hint: 'guild record makes one' });
  const { cassette, guild } = first;
  if (cassette !== CASSETTE_VERSION)
    return problem('bad_file', `${file} is a cassette of version ${cassette}; this program reads ${CASSETTE_VERSION}`, {
      where: { file },
      hint: `it was recorded by guild ${guild}; record it again, or replay it with that version`,
    });
  const entries: CassetteEntry[] = [];
  let sum = '';
  for (const [at, line] of lines.entries()) {
    const match = /^([\s\S]*),"sum":"(\w+)"\}$/.exec(line);
    const body = match?.[1];
    if (body === undefined || hash53(`${sum}\n${body}`) !== match![2]) return edited(file, at + 1);
    sum = match![2]!;
    const entry = parse(`${body}}`);
    if (entry === undefined) return edited(file, at + 1);
    entries.push(entry);
  }
  const last = entries.at(-1);
  if (rest !== '' || last?.kind !== 'end') return torn(file, lines.length);
  return { head: entries[0] as CassetteHead, entries: entries.slice(1, -1), end: last };
}

function parse(line: string): CassetteEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as CassetteEntry) : undefined;
  } catch {
    return undefined;
  }
}

function edited(file: string, line: number): Problem {
  return problem('bad_file', 'since the recording, this line or one before it was edited or lost', {
    where: { file, line },
    hint: 'record it again; to try another prompt, leave the cassette as it is and use guild replay --with',
  });
}

function torn(file: string, lines: number): Problem {
  return problem('bad_file', `${file} is cut off after ${lines} complete lines`, {
    where: { file },
    hint: 'its recording was interrupted; record it again',
  });
}
