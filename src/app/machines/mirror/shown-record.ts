/** The record of what a mirrored folder shows, kept for the next process. */
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../../adapters/disk/index.js';
import { defined } from '../../../domain/defined.js';
import { problemError } from '../../../domain/problem.js';
import { isPlainPath } from '../../../adapters/definitions/state-files.js';

/**
 * The state of a file when it was shown: its checksum, and the revision or the end of the log
 * behind it.
 */
export interface Base {
  sum: string;
  rev: number;
}

interface Shown {
  workspace: string;
  marks: Record<string, string>;
  bases: Record<string, Base>;
}

/** Undefined if there is no record. Throws a ProblemError if any part of it is invalid. */
export function readShown(file: string): Shown | undefined {
  const read = disk().read(file, MAX_BYTES);
  if (read.kind === 'missing') return undefined;
  const saved = read.kind === 'file' ? parse(read.bytes.toString('utf8')) : undefined;
  if (saved !== undefined) return saved;
  throw problemError('bad_file', `${file} cannot be read, so it is unknown what the folder showed`, {
    hint: 'sync into a new folder; the store has everything',
  });
}

export function writeShown(file: string, shown: Shown): void {
  replace(file, JSON.stringify(shown), { mode: 0o600 });
}

/** Writes a file as a whole. False, and nothing is written, if it is no longer as expected. */
export function replace(
  file: string,
  text: string,
  { mode, isStill = () => true }: { mode?: number; isStill?: () => boolean } = {},
): boolean {
  fs.mkdirSync(path.dirname(file), defined({ recursive: true, mode: mode === undefined ? undefined : 0o700 }));
  const part = path.join(path.dirname(file), `.${path.basename(file)}.part`);
  // Left by a killed process, or a link that came with the folder.
  fs.rmSync(part, { force: true });
  fs.writeFileSync(part, text, defined({ mode, flag: 'wx' }));
  const isExpected = isStill();
  if (isExpected) fs.renameSync(part, file);
  else fs.rmSync(part);
  return isExpected;
}

const MAX_BYTES = 256 * 1024 * 1024;

function parse(text: string): Shown | undefined {
  try {
    const { workspace, marks, bases } = (JSON.parse(text) ?? {}) as Partial<Shown>;
    const isWhole =
      typeof workspace === 'string' &&
      isMapping(marks, (value) => typeof value === 'string') &&
      isMapping(bases, isBase) &&
      Object.keys(bases!).every(isPlainPath);
    return isWhole ? { workspace, marks: marks!, bases: bases! } : undefined;
  } catch {
    return undefined;
  }
}

function isMapping(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isItem);
}

function isBase(value: unknown): boolean {
  const { sum, rev } = (value ?? {}) as Partial<Base>;
  return typeof sum === 'string' && Number.isSafeInteger(rev);
}
