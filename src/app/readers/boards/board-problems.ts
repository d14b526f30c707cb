/** The boards of a folder as `guild check` reads them, and the bullets that cannot become tasks. */
import path from 'node:path';
import type { Problem } from '../../../domain/problem.js';
import type { Disk } from '../../../ports/disk.js';
import { parseBoard } from '../../../text/board/parse.js';
import { boardTasks, type Sheet } from '../../../text/board/tasks.js';

const BALLOT = 'approvals.task.md';

export function boardsIn(disk: Disk, root: string): Sheet[] {
  const names = disk.list(path.join(root, 'tasks')).filter((name) => name.endsWith('.task.md') && name !== BALLOT);
  return names.sort().flatMap((name) => {
    const read = disk.read(path.join(root, 'tasks', name));
    if (read.kind !== 'file') return [];
    const text = read.bytes.toString('utf8');
    return [{ board: parseBoard(text, `tasks/${name}`), text }];
  });
}

/** Such as a schedule that is never due, or an agent that does not exist. */
export function boardProblems(sheets: readonly Sheet[], agents: Iterable<string>): Problem[] {
  return [...sheets.flatMap(({ board }) => board.problems), ...boardTasks(sheets, new Set(agents)).problems];
}
