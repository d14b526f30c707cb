/** Reads one of the program's own JSON files; a missing or torn one is undefined. */
import type { Disk } from '../../../ports/disk.js';

export function readJson<T>(disk: Disk, file: string): T | undefined {
  const read = disk.read(file);
  if (read.kind !== 'file') return undefined;
  try {
    return JSON.parse(read.bytes.toString('utf8')) as T;
  } catch {
    return undefined;
  }
}
