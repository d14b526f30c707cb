/** What a bullet on a board asks for, and how it stands. The task is the truth; the bullet is a wish and a view of it. */
import type { Task } from './task.js';

type BoardBox = 'open' | 'doing' | 'done' | 'skipped';

/** An open bullet that shall be a task. */
export interface BoardWish {
  file: string;
  line: number;
  /** The same text asks for the same task: a changed one is known by this. */
  said: string;
  task: Pick<Task, 'id' | 'description' | 'root' | 'depth' | 'role' | 'requirements' | 'dependencies' | 'context'> &
    Partial<Pick<Task, 'parent' | 'to' | 'priority'>>;
  /** Those of its dependencies whose bullet is closed: where no task is behind one, there is nothing to wait for. */
  closed: string[];
}

/** A bullet that is a task, or may be one. */
export interface BoardStand {
  box: BoardBox;
  /** It has its id in the file. */
  named: boolean;
  /** A person closed it: nothing on it says that the program did. */
  byHand: boolean;
  /** It says when its task failed. */
  erred: boolean;
  /** It says when its task was completed. */
  dated: boolean;
}

/** What a bullet shall say about its task. */
export interface BoardMark {
  id: string;
  /** Absent: the box stays. */
  box?: BoardBox;
  completedAt?: string;
  failed?: { at: string; error: string };
  /** What an earlier end left on it goes. */
  anew?: boolean;
}

/** Where a task came from, kept in its record. */
interface FromBoard {
  file: string;
  said: string;
}

export function fromBoard(task: Task): FromBoard | undefined {
  const board = task.extra?.['board'] as Partial<FromBoard> | undefined;
  return typeof board?.file === 'string' ? { file: board.file, said: String(board.said) } : undefined;
}
