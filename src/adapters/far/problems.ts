/** Why a process of a store for several machines cannot continue. */
import { type ProblemError, problemError } from '../../domain/problem.js';

/** After its lease has expired, the writes of a process must not count. */
export function declaredDead(): ProblemError {
  return problemError(
    'declared_dead',
    'this process did not renew its lease in time, so other processes continue its work',
    {
      hint: 'look at guild task list --all before you run the command again: its task may already be done',
    },
  );
}
