/**
 * Checks that a policy rule may require before a file is written: whether the file may be written,
 * and whether the disk has space for it. All other checks need a person.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { MadeCheck } from '../../domain/policy.js';

interface PlannedWrite {
  root: string;
  /** Relative to the root. */
  file: string;
  bytes: number;
}

export function failedCheck(check: MadeCheck, { root, file, bytes }: PlannedWrite): string | undefined {
  const target = path.join(root, file);
  const folder = existing(path.dirname(target));
  if (check === 'disk_space') {
    const free = freeBytes(folder);
    if (free === undefined) return 'the free space there is unknown';
    return free >= bytes ? undefined : `${bytes} bytes do not fit on the device, ${free} are free`;
  }
  const places = fs.existsSync(target) ? [folder, target] : [folder];
  return places.every(mayWrite) ? undefined : `the system does not allow writing ${file}`;
}

/** The nearest existing folder upwards. */
function existing(folder: string): string {
  return fs.existsSync(folder) ? folder : existing(path.dirname(folder));
}

function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = fs.statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function mayWrite(place: string): boolean {
  try {
    fs.accessSync(place, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
