/** What is said when a command is called where no workspace is. */
import { problem } from '../../domain/problem.js';

export function noWorkspace(root: string, there: boolean): ReturnType<typeof problem> {
  return problem(
    'not_found',
    there ? `${root} is not a workspace: it has neither guild.yaml nor tasks/` : `${root} does not exist`,
    {
      hint: 'make one with `guild init`, or name one with --workspace',
    },
  );
}
