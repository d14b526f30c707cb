/**
 * The boards of a workspace, `tasks/*.task.md` without the ballot: where people and planners write down what is to be done,
 * and where they see what became of it. A board is a form and a view. What is read off it are wishes; the tasks are the truth.
 */
import type { BoardMark, BoardStand, BoardWish } from '../domain/task/board.js';
import type { Problem } from '../domain/problem.js';

interface BoardsReading {
  /** False: no board and no agent changed since the last reading; the lists are empty. */
  changed: boolean;
  wanted: BoardWish[];
  /** Bullets of failed tasks that a person opened again. */
  reopened: string[];
  /** Entries and files that cannot be used, each told once by this process. */
  problems: Problem[];
}

export interface Boards {
  /** Looks at the stamps of the boards and reads those that changed. `agents`: who may be meant by `@name`. */
  read(agents: Iterable<string>): Promise<BoardsReading>;
  /** The next reading says everything again, whether or not anything changed. */
  readAgain(): void;
  /** The bullet of this task as of the last reading; undefined if no board has one, or it is the person's own. */
  stand(id: string): BoardStand | undefined;
  /** Every task that has such a bullet. */
  standing(): Iterable<string>;
  /** Whether the last reading of this board can be believed: only then does a missing bullet mean anything. */
  isWhole(file: string): boolean;
  /** Ids of bullets whose box is not final. */
  following(): Iterable<string>;
  /** Nothing is behind this bullet, or nothing more will come: it is not followed until its board changes or `follow`. */
  unfollow(id: string): void;
  follow(id: string): void;
  /**
   * Makes the bullets say this. One write for each board, only over what was read, nothing else on it touched; where a
   * person was faster, nothing is written and the next reading finds what to do. A large board may be left for a later
   * call, unless this is the `last` one for now. Durable when resolved.
   */
  show(marks: readonly BoardMark[], last: boolean): Promise<Problem[]>;
}
