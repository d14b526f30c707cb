/** Files that are often appended to stay open until their name stands for another file. */
import fs from 'node:fs';
import { inodeOf } from '../../domain/stamp.js';

/** More are closed, the least recently used first. */
const MAX_GROWING = 8;

export interface GrowingFile {
  fd: number;
  inode: string;
}

/** `glance`: the stamp of a name, at most a turn old. */
export function growingFiles(
  glance: (file: string) => string | undefined,
  open: (file: string) => GrowingFile,
): { open(file: string): number } {
  const kept = new Map<string, GrowingFile>();
  return {
    open(file) {
      const stamp = glance(file);
      const before = kept.get(file);
      kept.delete(file);
      const isSame = before !== undefined && stamp !== undefined && inodeOf(stamp) === before.inode;
      if (before !== undefined && !isSame) fs.closeSync(before.fd);
      const entry = isSame ? before : open(file);
      kept.set(file, entry);
      for (const [oldest, { fd }] of kept) {
        if (kept.size <= MAX_GROWING) break;
        kept.delete(oldest);
        fs.closeSync(fd);
      }
      return entry.fd;
    },
  };
}
