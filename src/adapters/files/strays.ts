/**
 * Files in the task folders that are not tasks: another extension, or another place. Their author
 * may be waiting for work that never starts, so each is reported once while it is there. Nothing is
 * moved or read: it may be a note, or belong to another program.
 */
import path from 'node:path';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { problem, type Problem } from '../../domain/problem.js';
import { TASK_STATES, type OpenState } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import { isTaskFile, LEAVING, type Layout } from './base/layout.js';

interface Strays {
  /** Names in a folder of open tasks that are not names of tasks. */
  meet(state: OpenState, names: readonly string[]): void;
  /** Looks at `tasks/` itself, where only boards and the folders of the states belong. */
  look(full: boolean): void;
  /** The strays found since the last call. */
  take(): Problem[];
}

export function strays(disk: Disk, layout: Layout): Strays {
  const reportedIn = new Map<string, Set<string>>();
  const unreported: Problem[] = [];
  const top = path.dirname(layout.tasks('pending'));
  let stamp: string | undefined;

  return {
    meet: (state, names) =>
      compare(
        layout.tasks(state),
        names.filter((name) => !name.endsWith(LEAVING)),
      ),
    look(full) {
      const now = fenced(top, () => disk.stamp(top));
      if (isUnreadable(now) || (!full && now === stamp)) return;
      stamp = now;
      compare(
        top,
        namesIn(top).filter((name) => !belongsInTasks(name)),
      );
    },
    take: () => unreported.splice(0),
  };

  function compare(folder: string, names: readonly string[]): void {
    const before = reportedIn.get(folder);
    const candidates = names.filter((name) => !PASSING.test(name));
    if (candidates.length === 0) {
      if (before !== undefined) reportedIn.delete(folder);
      return;
    }
    const reported = new Set<string>();
    for (const name of candidates) {
      const found = before?.has(name) ? undefined : strayIn(folder, name);
      if (found !== undefined) unreported.push(found);
      if (found !== undefined || before?.has(name)) reported.add(name);
    }
    reportedIn.set(folder, reported);
  }

  /** Empty for a folder that cannot be listed. */
  function namesIn(folder: string): string[] {
    const names = fenced(folder, () => disk.list(folder));
    return isUnreadable(names) ? [] : names;
  }

  function strayIn(folder: string, name: string): Problem | undefined {
    const full = path.join(folder, name);
    const file = path.relative(layout.root, full);
    if (fenced(file, () => disk.stamp(full)) === undefined) return undefined; // being renamed
    const read = fenced(file, () => disk.read(full, 0));
    if (read.kind !== 'not_a_file') return stray(file, ...whyAndNext(folder === top, name));
    const inside = read.what === 'folder' ? namesIn(full).filter(isTaskFile).length : 0;
    if (inside === 0) return undefined;
    const many = inside === 1 ? 'a task file' : `${inside} task files`;
    return stray(
      `${file}/`,
      `contains ${many} that guild does not read`,
      'move tasks that are to be done to tasks/pending',
    );
  }
}

/** Temporary files of editors and programs, and readme files. */
const PASSING =
  /^[.#]|~$|^readme\b|^\d+$|^sed\w{6}$|\.(?:tmp|temp|part|partial|crdownload|swp|swo|bak|orig|rej|lock)$/i;

function belongsInTasks(name: string): boolean {
  return name.endsWith('.task.md') || name === 'bids' || (TASK_STATES as readonly string[]).includes(name);
}

function whyAndNext(isTop: boolean, name: string): [why: string, next: string] {
  const { name: stem, ext } = path.parse(name);
  const ending = ext.toLowerCase();
  if (isTop && name.endsWith('.json'))
    return ['is ignored: tasks belong in tasks/pending', `move it to tasks/pending/${name}`];
  if (ending === '.json')
    return ['is ignored: the name of a task must end in .json, in lower case', `name it tasks/pending/${stem}.json`];
  if (name.endsWith('.task.md')) return ['is ignored: boards belong in tasks/', `move it to tasks/${name}`];
  if (isTop && ending === '.md')
    return ['is ignored: the name of a board must end in .task.md', `name it ${stem}.task.md, or keep it elsewhere`];
  return [
    'is ignored: a task is a JSON file',
    `write tasks/pending/${stem}.json with {"description": "what is to be done"}, or keep it elsewhere`,
  ];
}

function stray(file: string, why: string, next: string): Problem {
  return problem('bad_name', `${file} ${why}`, { where: { file: file.replace(/\/$/, '') }, hint: next });
}
