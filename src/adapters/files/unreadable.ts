/**
 * Files of open tasks that could not be read, with the stamp they had. Each is reported once, then
 * skipped until its file changes. Its task still counts as open.
 */
import path from 'node:path';
import type { Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';

interface UnreadableFile {
  id: string;
  file: string;
  stamp: string;
  problem: Problem;
}

export interface UnreadableFiles {
  add(unreadable: UnreadableFile): void;
  delete(file: string): void;
  /** Forgets the files of this folder that are not among these names. */
  deleteMissing(folder: string, names: readonly string[]): void;
  /** Whether this file could not be read and has not changed since. */
  isUnchanged(file: string): boolean;
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
    isUnchanged(file) {
      const unreadable = byFile.get(file);
      return unreadable !== undefined && unreadable.stamp === disk.stamp(file);
    },
    problemOf(id) {
      const unreadable = byId.get(id);
      if (unreadable === undefined) return undefined;
      if (disk.stamp(unreadable.file) !== undefined) return unreadable.problem;
      forget(unreadable.file); // the file has gone since the last scan: nothing may wait for it
      return undefined;
    },
    size: () => byFile.size + byId.size,
  };

  function forget(file: string): void {
    const unreadable = byFile.get(file);
    if (unreadable === undefined) return;
    touch(unreadable.id);
    byFile.delete(file);
    if (byId.get(unreadable.id) === unreadable) byId.delete(unreadable.id);
  }
}
