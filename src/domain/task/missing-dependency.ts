/** A task that depends on one that does not exist waits for ever, and nothing else shows it. */
import { problem, type Problem } from '../problem.js';
import { fromBoard } from './board.js';
import type { Task } from './task.js';

export function missingDependency(task: Task, missing: string): Problem {
  const board = fromBoard(task)?.file;
  const where = board ?? `tasks/pending/${task.id}.json`;
  return problem('not_found', `${task.id} waits for ${missing}, which does not exist`, {
    where: { file: where },
    hint: `correct the name in ${where}, remove the dependency, or create the task ${missing}`,
  });
}
