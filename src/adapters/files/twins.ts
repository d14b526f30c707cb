/**
 * Two files with one task id. A second file under a name that the program does not give is a twin
 * and goes to quarantine. Two names that the program gives are nearly always one task that another
 * process moved between folders during the scan, so the file that was read last counts. Only if two
 * plain names are unchanged at the next scan did a person make two files.
 */
import path from 'node:path';
import { fenced } from '../../domain/fence.js';
import { compareText } from '../../domain/order.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './base/layout.js';
import type { Entry } from './open-index.js';

interface Twins {
  /** Which of two entries with the same id is a twin to quarantine; undefined if neither is. */
  pick(entry: Entry, other: Entry): Entry | undefined;
  prune(isOpen: (id: string) => boolean): void;
  size(): number;
}

export function twins(disk: Disk): Twins {
  /** The two files and their stamps when the pair was last seen, by id. */
  const pairs = new Map<string, string>();
  return {
    pick(entry, other) {
      if (!isOurs(entry)) return entry;
      return !isOurs(other) || isUnchanged(entry, other) ? other : undefined;
    },
    prune(isOpen) {
      for (const id of pairs.keys()) if (!isOpen(id)) pairs.delete(id);
    },
    size: () => pairs.size,
  };

  function isUnchanged(entry: Entry, other: Entry): boolean {
    if (entry.state === 'active' || other.state === 'active') return false;
    const pair = [entry, other]
      .map(({ file }) => `${file} ${String(fenced(file, () => disk.stamp(file)))}`)
      .sort(compareText)
      .join('\n');
    const before = pairs.get(entry.id);
    pairs.set(entry.id, pair);
    return before === pair;
  }
}

/** Whether the program itself gives such a name: the plain name, or the name of a claim. */
function isOurs({ id, state, file, owner }: Entry): boolean {
  return state === 'active' ? owner !== undefined : path.basename(file) === `${id}.json`;
}

export function twinProblem(layout: Layout, file: string, id: string, other: string): Problem {
  const shown = path.relative(layout.root, file);
  const kept = other.startsWith(layout.root) ? path.relative(layout.root, other) : other;
  return problem('duplicate', `${shown} has the id ${id}, which ${kept} has already`, {
    where: { file: shown },
    hint: 'give it another id and file name and put it back into tasks/pending',
  });
}

/** A second file has the name that the file of a task of this process is about to get. */
export function twinOf(layout: Layout, id: string, file: string): Problem {
  const shown = path.relative(layout.root, file);
  return problem('duplicate', `${shown} has the id ${id} of a task that is being worked on`, {
    where: { file: shown },
  });
}
