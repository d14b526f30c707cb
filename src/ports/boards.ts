/**
 * The boards of a workspace: `tasks/*.task.md` without the ballot. People and planners write work
 * there and see what became of it. A board is a form and a view; the tasks are the authority.
 */
import type { BoardMark, BoardBullet, BoardWish } from '../domain/task/board.js';
import type { Problem } from '../domain/problem.js';

interface BoardsReading {
  /** False if no board and no agent changed since the last reading; the lists are then empty. */
  changed: boolean;
  wanted: BoardWish[];
  /** Failed tasks whose bullet a person reopened. */
  reopened: string[];
  /** Unusable entries and files, each reported once per process. */
  problems: Problem[];
}

export interface Boards {
  /** Reads the boards whose stamp changed. `agents`: names that `@name` may refer to. */
  read(agents: Iterable<string>): Promise<BoardsReading>;
  /** Makes the next reading return everything, even if nothing changed. */
  readAgain(): void;
  /** The task's bullet at the last reading; undefined without one, or if it is for a person. */
  bullet(id: string): BoardBullet | undefined;
  /** Ids of all tasks with such a bullet. */
  taskIds(): Iterable<string>;
  /** True if this board was read completely: only then was a missing bullet removed. */
  isComplete(file: string): boolean;
  /** Ids of bullets whose box may still change. */
  following(): Iterable<string>;
  /** Stops following a bullet whose box is final, until its board changes or `follow` is called. */
  unfollow(id: string): void;
  follow(id: string): void;
  /**
   * Updates the bullets with one write per board and changes nothing else. If a person saved the
   * board since the last reading, nothing is written and the next reading decides. A large board
   * may be left for a later call unless `last` is true. Durable when resolved.
   */
  show(marks: readonly BoardMark[], last: boolean): Promise<Problem[]>;
}
