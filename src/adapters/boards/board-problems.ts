/** The boards of a folder as `guild check` reads them, and the bullets that cannot become tasks. */
import path from 'node:path';
import { fenced, isUnreadable } from '../../domain/fence.js';
import type { Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import { parseBoard } from '../../text/board/parse.js';
import { boardTasks, type Sheet } from '../../text/board/tasks.js';

const BALLOT = 'approvals.task.md';

interface Boards {
  sheets: Sheet[];
  /** Boards that cannot be read. */
  problems: Problem[];
}

export function boardsIn(disk: Disk, root: string): Boards {
  const boards: Boards = { sheets: [], problems: [] };
  const names = fenced('tasks', () => disk.list(path.join(root, 'tasks')));
  if (isUnreadable(names)) return { ...boards, problems: [names.problem] };
  for (const name of names.filter((each) => each.endsWith('.task.md') && each !== BALLOT).sort()) {
    const file = `tasks/${name}`;
    const sheet = fenced(file, () => readSheet(disk, root, file));
    if (isUnreadable(sheet)) boards.problems.push(sheet.problem);
    else if (sheet !== undefined) boards.sheets.push(sheet);
  }
  return boards;
}

function readSheet(disk: Disk, root: string, file: string): Sheet | undefined {
  const read = disk.read(path.join(root, file));
  if (read.kind !== 'file') return undefined;
  const text = read.bytes.toString('utf8');
  return { board: parseBoard(text, file), text };
}

/** Bullets with a fault, such as a schedule that is never due or an agent that does not exist. */
export function boardProblems({ sheets, problems }: Boards, agents: Iterable<string>): Problem[] {
  return [
    ...problems,
    ...sheets.flatMap(({ board }) => board.problems),
    ...boardTasks(sheets, new Set(agents)).problems,
  ];
}
