/** The task that a command line names, and what to say when there is none. */
import { problem, ProblemError, type Problem } from '../domain/problem.js';
import type { Call } from './command.js';

/** The id that must come next on the line. */
export function idOf(call: Pick<Call, 'words'>, what: string): string {
  const id = call.words[0];
  if (id !== undefined) return id;
  throw new ProblemError(
    problem('bad_usage', `guild ${what} needs the id of a task`, { hint: 'guild task list shows them' }),
  );
}

export function unknownTask(id: string): Problem {
  return problem('not_found', `there is no task ${id}`, { hint: 'guild task list --all shows what there is' });
}
