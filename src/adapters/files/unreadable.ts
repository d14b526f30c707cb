/**
 * Files of open tasks that could not be read, with the stamp they had. Each is reported once, then
 * skipped until its file changes. Its task still counts as open.
 */
import path from 'node:path';
import { fenced } from '../../domain/fence.js';
import type { Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import { readableStamp } from './base/where-now.js';

interface UnreadableFile {
  id: string;
  file: string;
  stamp: string;
  problem: Problem;
  /** The system did not let us read it. That may change without a change of the file. */
  mayPass?: boolean;
}

interface UnreadableFiles {
  add(unreadable: UnreadableFile): void;
  delete(file: string): void;
  deleteMissing(folder: string, names: readonly string[]): void;
  /**
   * Whether this file could not be read and need not be tried: it has not changed since. `full`:
   * also try one that the system may let us read by now.
   */
  isUnchanged(file: string, full?: boolean): boolean;
  problemIn(file: string): Problem | undefined;
  /** The problem of this task's file, if the file is still there. */
  problemOf(id: string): Problem | undefined;
  size(): number;
}

/** `touch` is called with the id of each task whose file becomes unreadable or stops being so. */
export function unreadableFiles(disk: Disk, touch: (id: string) => void): UnreadableFiles {
  const byFile = new Map<string, UnreadableFile>();
  const byId = new Map<string, UnreadableFile>();
  return {
    add(unreadable) {
      touch(unreadable.id);
      byFile.set(unreadable.file, unreadable);
      byId.set(unreadable.id, unreadable);
    },
    delete: forget,
    deleteMissing(folder, names) {
      if (byFile.size === 0) return;
      const present = new Set(names);
      for (const file of byFile.keys())
        if (path.dirname(file) === folder && !present.has(path.basename(file))) forget(file);
    },
    isUnchanged(file, full = false) {
      const unreadable = byFile.get(file);
      if (unreadable === undefined || (full && unreadable.mayPass)) return false;
      return unreadable.stamp === (readableStamp(disk, file) ?? '');
    },
    problemIn: (file) => byFile.get(file)?.problem,
    problemOf(id) {
      const unreadable = byId.get(id);
      if (unreadable === undefined) return undefined;
      if (isThere(unreadable.file)) return unreadable.problem;
      forget(unreadable.file); // the file disappeared after the last scan: nothing may wait for it
      return undefined;
    },
    size: () => byFile.size + byId.size,
  };

  /** A file counts as existing if its folder may not be searched. */
  function isThere(file: string): boolean {
    return fenced(file, () => disk.stamp(file)) !== undefined;
  }

  function forget(file: string): void {
    const unreadable = byFile.get(file);
    if (unreadable === undefined) return;
    touch(unreadable.id);
    byFile.delete(file);
    if (byId.get(unreadable.id) === unreadable) byId.delete(unreadable.id);
  }
}
