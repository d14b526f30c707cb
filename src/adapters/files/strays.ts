/**
 * Files that lie where tasks lie and are none: another ending, or another place. Whoever dropped one waits for something that never
 * begins, so it is told, once for as long as it lies there. Nothing is moved or read: it may be somebody's note, or for another program.
 */
import path from 'node:path';
import { problem, type Problem } from '../../domain/problem.js';
import { TASK_STATES, type OpenState } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import { isTaskFile, LEAVING, type Layout } from './base/layout.js';

interface Strays {
  /** What lies in one of the folders of open tasks, without those that have names of tasks. */
  meet(state: OpenState, names: readonly string[]): void;
  /** Looks at `tasks/` itself, where only boards and the folders of the states are at home. */
  look(full: boolean): void;
  /** What was met since this was last asked, and not told before. */
  take(): Problem[];
}

export function strays(disk: Disk, l: Layout): Strays {
  const lying = new Map<string, Set<string>>();
  const untold: Problem[] = [];
  const top = path.dirname(l.tasks('pending'));
  let stamp: string | undefined;

  return {
    meet: (state, names) =>
      found(
        l.tasks(state),
        names.filter((name) => !name.endsWith(LEAVING)),
      ),
    look(full) {
      const now = disk.stamp(top);
      if (!full && now === stamp) return;
      stamp = now;
      found(
        top,
        disk.list(top).filter((name) => !isAtHome(name)),
      );
    },
    take: () => untold.splice(0),
  };

  function found(folder: string, names: readonly string[]): void {
    const before = lying.get(folder);
    const there = names.filter((name) => !PASSING.test(name));
    if (there.length === 0) {
      if (before !== undefined) lying.delete(folder);
      return;
    }
    const told = new Set<string>();
    for (const name of there) {
      const one = before?.has(name) ? undefined : strayIn(folder, name);
      if (one !== undefined) untold.push(one);
      if (one !== undefined || before?.has(name)) told.add(name);
    }
    lying.set(folder, told);
  }

  function strayIn(folder: string, name: string): Problem | undefined {
    const full = path.join(folder, name);
    const file = path.relative(l.root, full);
    if (disk.stamp(full) === undefined) return undefined; // it was on its way to another name
    const read = disk.read(full, 0);
    if (read.kind !== 'not_a_file') return stray(file, ...whyAndNext(folder === top, name));
    const inside = read.what === 'folder' ? disk.list(full).filter(isTaskFile).length : 0;
    if (inside === 0) return undefined;
    const many = inside === 1 ? 'a task file' : `${inside} task files`;
    return stray(`${file}/`, `holds ${many}, and nobody looks there`, 'tasks to be done belong into tasks/pending');
  }
}

/** Of editors and programs that write beside and rename; and what people put into a folder for people. */
const PASSING =
  /^[.#]|~$|^readme\b|^\d+$|^sed\w{6}$|\.(?:tmp|temp|part|partial|crdownload|swp|swo|bak|orig|rej|lock)$/i;

function isAtHome(name: string): boolean {
  return name.endsWith('.task.md') || name === 'bids' || (TASK_STATES as readonly string[]).includes(name);
}

function whyAndNext(isTop: boolean, name: string): [why: string, next: string] {
  const { name: stem, ext } = path.parse(name);
  const ending = ext.toLowerCase();
  if (isTop && name.endsWith('.json'))
    return ['is not looked at: tasks lie in tasks/pending', `move it to tasks/pending/${name}`];
  if (ending === '.json')
    return [
      'is not looked at: the name of a task ends in .json, in small letters',
      `name it tasks/pending/${stem}.json`,
    ];
  if (name.endsWith('.task.md')) return ['is not looked at: boards lie in tasks/', `move it to tasks/${name}`];
  if (isTop && ending === '.md')
    return ['is not looked at: the name of a board ends in .task.md', `name it ${stem}.task.md, or keep it elsewhere`];
  return [
    'is not looked at: a task is a JSON file',
    `write tasks/pending/${stem}.json with {"description": "what is to be done"}, or keep it elsewhere`,
  ];
}

function stray(file: string, why: string, next: string): Problem {
  return problem('bad_name', `${file} ${why}`, { where: { file: file.replace(/\/$/, '') }, hint: next });
}
