/** The task that a command line names, and what to say when there is none, or only a file that cannot be read. */
import fs from 'node:fs';
import path from 'node:path';
import { problem, ProblemError, type Problem } from '../domain/problem.js';
import { TASK_STATES } from '../domain/task.js';
import type { Call } from './command.js';

/** The id that must come next on the line. */
export function idOf(call: Pick<Call, 'words'>, what: string): string {
  const id = call.words[0];
  if (id !== undefined) return id;
  throw new ProblemError(
    problem('bad_usage', `guild ${what} needs the id of a task`, { hint: 'guild task list shows them' }),
  );
}

/** Without a workspace to look into, only that it is not there. */
export function unknownTask(id: string, root?: string): Problem {
  return problem('not_found', `there is no task ${id}`, {
    hint: (root === undefined ? undefined : asideHint(id, root)) ?? 'guild task list --all shows what there is',
  });
}

/** Somebody who dropped a file looks for it under its name, also when nothing could be made of it. */
function asideHint(id: string, root: string): string | undefined {
  const isThere = (file: string): boolean => fs.existsSync(path.join(root, file));
  const isName = path.basename(id) === id;
  if (isName && isThere(`quarantine/${id}.json.why.md`))
    return `quarantine/${id}.json was set aside; quarantine/${id}.json.why.md says why`;
  const state = isName && TASK_STATES.find((one) => isThere(`tasks/${one}/${id}.json`));
  if (state === 'completed' || state === 'failed')
    return `tasks/${state}/${id}.json cannot be read; guild task list --all tells why`;
  return state ? `tasks/${state}/${id}.json cannot be read yet; guild task list tells why` : undefined;
}
