/** The problem of a command that is run outside a workspace. */
import { problem } from '../../domain/problem.js';

export function noWorkspace(root: string, exists: boolean): ReturnType<typeof problem> {
  return problem(
    'not_found',
    exists ? `${root} is not a workspace: it has neither guild.yaml nor tasks/` : `${root} does not exist`,
    {
      hint: 'make one with `guild init`, or name one with --workspace',
    },
  );
}
