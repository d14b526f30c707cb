/**
 * Checks that a policy rule may ask for before a file is written, as far as they can be made without guessing: whether the place may be written at
 * all, and whether the device has room for it. The others are a human's.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { MadeCheck } from '../../domain/policy.js';

interface Written {
  root: string;
  /** Counted from the root. */
  file: string;
  bytes: number;
}

/** Why it does not hold; undefined if it does. */
export function failedCheck(check: MadeCheck, { root, file, bytes }: Written): string | undefined {
  const target = path.join(root, file);
  const folder = existing(path.dirname(target));
  if (check === 'disk_space') {
    const free = freeBytes(folder);
    if (free === undefined) return 'nobody can say how much is free there';
    return free >= bytes ? undefined : `${bytes} bytes do not fit on the device, ${free} are free`;
  }
  const places = fs.existsSync(target) ? [folder, target] : [folder];
  return places.every(mayWrite) ? undefined : `the system does not let ${file} be written`;
}

/** The nearest folder upwards that is there. */
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
