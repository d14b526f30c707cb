/**
 * Bullets on a board: the tasks they ask for and the state they show. The task is the authority.
 */
import type { Task } from './task.js';

type BoardBox = 'open' | 'doing' | 'done' | 'skipped';

/** An open bullet that asks for a task. */
export interface BoardWish {
  file: string;
  line: number;
  /** The bullet's text. If it changes, the task changes with it. */
  said: string;
  task: Pick<Task, 'id' | 'description' | 'root' | 'depth' | 'role' | 'requirements' | 'dependencies' | 'context'> &
    Partial<Pick<Task, 'parent' | 'to' | 'priority' | 'schedule'>>;
  /** Dependencies whose bullet is closed; one that has no task does not delay anything. */
  closed: string[];
}

/** A bullet that is or may become a task. */
export interface BoardBullet {
  box: BoardBox;
  /** Its id is written in the file. */
  hasId: boolean;
  /** A person closed it: it lacks the fields that the engine writes at the end. */
  closedByHand: boolean;
  /** The bullet shows the time at which its task failed. */
  showsFailure: boolean;
  /** The bullet shows the time at which its task was completed. */
  showsCompletion: boolean;
}

/** An update to a bullet. */
export interface BoardMark {
  id: string;
  /** Absent: the box is not changed. */
  box?: BoardBox;
  completedAt?: string;
  failed?: { at: string; error: string };
  /** Removes the fields that an earlier failure left. */
  reset?: boolean;
}

/** The origin of a task, kept in its record. */
interface FromBoard {
  file: string;
  said: string;
}

export function fromBoard(task: Task): FromBoard | undefined {
  const board = task.extra?.['board'] as Partial<FromBoard> | undefined;
  return typeof board?.file === 'string' ? { file: board.file, said: String(board.said) } : undefined;
}
