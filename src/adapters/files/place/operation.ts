/**
 * Gives files their names. New content is written to a temporary file first: no reader ever sees
 * half of a file. Nothing is synced here, because the journal already has the content.
 */
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import { LEAVING } from '../base/layout.js';

export interface Operation {
  /** The file's current name; absent: none yet. If another process moved it, we are fenced. */
  from?: string | undefined;
  to: string;
  /** New content; absent: unchanged. */
  text?: string | undefined;
  /** Names under which the same thing may already exist; then this operation must not place it. */
  others?: readonly string[] | undefined;
  /** True if the same thing exists under a name that only a search finds. */
  isElsewhere?: (() => boolean) | undefined;
  /** Where the content goes if it comes too late. */
  evidence?: string | undefined;
  /** The task has ended: its last record gets its own file, and the claim goes. */
  isEnd?: boolean | undefined;
  /** The result page, written before the record that refers to it. */
  page?: { file: string; text: string } | undefined;
}

/** `fenced`: the file was moved away from `from`. `taken`: the thing exists under another name. */
export type Placing = { kind: 'placed'; stamp: string | undefined } | { kind: 'fenced' } | { kind: 'taken' };

export type Execute = (operation: Operation) => Placing;

/** Executes operations on a disk. `prefix`: how its temporary files are named. */
export function executor(disk: Disk, tmpFolder: string, prefix: string): Execute {
  let count = 0;
  return ({ from, ...operation }) => (from === undefined ? create(operation) : move({ from, ...operation }));

  function move(operation: Operation & { from: string }): Placing {
    const { from, to, text, others = [], page, isEnd = false } = operation;
    if (text === undefined) {
      // It was parked and claimed again before its file had moved.
      if (from === to) return exists(to) ? placedAt(to) : { kind: 'fenced' };
      if (exists(to)) return { kind: 'taken' };
      return disk.rename(from, to) ? placedAt(to) : { kind: 'fenced' };
    }
    if ((to !== from && exists(to)) || others.some(exists)) return late(operation, 'taken');
    // The text goes into new files, because a reader may have an old one open. They are written
    // first, so that the task has no plain name only for a moment.
    const record = written(text);
    const newPage = page && written(page.text);
    // Renaming the claim is the fence. Its new name still shows readers that the task exists and
    // that its content is about to change.
    const leaving = `${from}${LEAVING}`;
    if (!disk.rename(from, leaving)) {
      for (const tmp of [record, newPage]) if (tmp !== undefined) disk.remove(tmp);
      return late(operation, 'fenced');
    }
    if (page !== undefined) disk.rename(newPage!, page.file);
    if (isEnd) {
      // An ended task stays ended even if its claim is still there. Replacing the claim's content
      // first would make the system write it to the device at once.
      disk.rename(record, to);
      disk.remove(leaving);
    } else {
      if (exists(leaving)) disk.rename(record, leaving);
      disk.rename(leaving, to);
    }
    return placedAt(to);
  }

  function create(operation: Operation): Placing {
    const { to, text = '', others = [], page } = operation;
    if (others.some((other) => other !== to && exists(other)) || operation.isElsewhere?.() === true)
      return late(operation, 'taken');
    const tmp = written(text);
    if (page !== undefined) disk.rename(written(page.text), page.file);
    const isFree = disk.link(tmp, to);
    disk.remove(tmp);
    return isFree ? placedAt(to) : late(operation, 'taken');
  }

  function late({ evidence, text }: Operation, kind: 'fenced' | 'taken'): Placing {
    if (evidence !== undefined && text !== undefined) disk.rename(written(text), evidence);
    return { kind };
  }

  function written(text: string): string {
    const tmp = `${tmpFolder}${path.sep}${prefix}${++count}`;
    disk.create(tmp, text);
    return tmp;
  }

  function exists(file: string): boolean {
    return disk.stamp(file) !== undefined;
  }

  function placedAt(file: string): Placing {
    return { kind: 'placed', stamp: disk.stamp(file) };
  }
}
