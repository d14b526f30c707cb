/**
 * Names of the files of journals: `<peer>.<n>.log`. The last file of a journal is renamed when its
 * process has closed it (`.closed`) and when another process replays it (`.log.<adopter>`).
 */
import path from 'node:path';
import { defined } from '../../../domain/defined.js';

export interface JournalFile {
  file: string;
  peer: string;
  segment: number;
  isClosed: boolean;
  /** The process that replays it. */
  adopter?: string;
  /** Written by a version before this format. */
  isOld: boolean;
}

const NAME = /^([a-z0-9]+)\.(\d+)\.(?:(log)(?:\.([a-z0-9]+))?|(closed)|(jsonl))$/;

export function parseJournalName(folder: string, name: string): JournalFile | undefined {
  const match = NAME.exec(name);
  if (match === null) return undefined;
  const [, peer, segment, , adopter, closed, old] = match;
  return defined({
    file: path.join(folder, name),
    peer: peer!,
    segment: Number(segment),
    isClosed: closed !== undefined,
    adopter,
    isOld: old !== undefined,
  });
}

export function segmentFile(folder: string, peer: string, segment: number): string {
  return path.join(folder, `${peer}.${segment}.log`);
}

export function closedName(file: string): string {
  return file.replace(/\.log$/, '.closed');
}

export function adoptedName({ file, adopter }: JournalFile, by: string): string {
  const base = adopter === undefined ? file.replace(/\.closed$/, '.log') : file.slice(0, -adopter.length - 1);
  return `${base}.${by}`;
}
