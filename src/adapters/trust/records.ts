/**
 * Trust records: one file for each workspace, named by a hash of its path, in the user's state
 * folder. A record that cannot be read closes the gate and is never overwritten by itself.
 */
import { hash, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { TrustRecord } from '../../domain/consent/trust.js';
import { defined } from '../../domain/defined.js';
import { problemError } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';

export interface TrustRecords {
  /** The record of the workspace with this real path. Throws a ProblemError if it is damaged. */
  read(root: string): TrustRecord | undefined;
  /** Changes whenever the record may have changed. */
  stamp(root: string): string | undefined;
  /** Makes the first record of a workspace, or returns the existing one. Durable. */
  create(root: string, owner: number | undefined): TrustRecord;
  /** Durable when it returns. */
  write(record: TrustRecord): void;
  remove(root: string): boolean;
}

/** The folder for everything else about the workspace with this record. */
export function recordFolder(state: string, id: string): string {
  return path.join(state, 'workspaces', id);
}

export function trustRecords(disk: Disk, state: string): TrustRecords {
  const home = path.join(state, 'workspaces');
  /** Every tool call asks for the stamp of the same workspace. */
  let last: { root: string; file: string } | undefined;
  const fileOf = (root: string): string => {
    if (last?.root !== root) last = { root, file: path.join(home, `${hash('sha256', root).slice(0, 32)}.json`) };
    return last.file;
  };
  return {
    read: (root) => readRecord(disk, fileOf(root), root),
    stamp: (root) => disk.stamp(fileOf(root)),
    create(root, owner) {
      const record: TrustRecord = defined({ version: 1, id: randomBytes(16).toString('hex'), path: root, owner });
      const file = fileOf(root);
      return put(disk, home, record, (tmp) => disk.link(tmp, file)) ? record : readRecord(disk, file, root)!;
    },
    write: (record) => void put(disk, home, record, (tmp) => disk.rename(tmp, fileOf(record.path))),
    remove: (root) => disk.remove(fileOf(root)),
  };
}

function readRecord(disk: Disk, file: string, root: string): TrustRecord | undefined {
  const read = disk.read(file, 8 * 1024 * 1024);
  if (read.kind === 'missing') return undefined;
  const record = read.kind === 'file' ? parse(read.bytes.toString('utf8')) : undefined;
  if (record?.path === root) return record;
  throw problemError(
    'bad_file',
    'the record of what you trust in this workspace cannot be read, so nothing is opened',
    {
      where: { file },
      hint: 'restore it from a backup; or remove it and run guild trust: you are then asked again for open answers',
    },
  );
}

function put(disk: Disk, home: string, record: TrustRecord, place: (tmp: string) => boolean): boolean {
  disk.makeFolder(home, 0o700);
  const tmp = path.join(home, `.${randomBytes(6).toString('hex')}`);
  disk.create(tmp, `${JSON.stringify(record, null, 2)}\n`);
  try {
    disk.syncNow(tmp);
    const isPlaced = place(tmp);
    disk.syncNow(home);
    return isPlaced;
  } finally {
    disk.remove(tmp);
  }
}

function parse(text: string): TrustRecord | undefined {
  try {
    const record = JSON.parse(text) as TrustRecord;
    const { version, id, path: root, trusted } = record;
    const isWhole = trusted === undefined || (typeof trusted.digest === 'string' && isActing(trusted.acting));
    return version === 1 && isId(id) && typeof root === 'string' && isWhole ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The name of a folder. */
function isId(id: unknown): boolean {
  return typeof id === 'string' && id.length === 32 && !/[^0-9a-f]/.test(id);
}

function isActing(acting: NonNullable<TrustRecord['trusted']>['acting'] | undefined): boolean {
  const isMapping = (value: unknown): boolean => typeof value === 'object' && value !== null;
  return isMapping(acting) && [acting!.providers, acting!.plugins, acting!.rules].every(isMapping);
}
