/**
 * The task that a command line names, and the problem if there is none or its file cannot be read.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isTaskName, taskNames } from '../../../app/readers/task-names.js';
import { compareText } from '../../../domain/order.js';
import { problem, type Problem, problemError } from '../../../domain/problem.js';
import { TASK_STATES } from '../../../domain/task/task.js';
import { meantIds } from '../../../views/short-id.js';
import type { Call } from '../../args/command.js';

/** The id in the first word, in full, or a unique end of it. */
export function idOf(call: Pick<Call, 'words' | 'root'>, what: string): string {
  const typed = call.words[0];
  if (typed !== undefined) return meantBy(typed, call.root);
  throw problemError('bad_usage', `guild ${what} needs the id of a task`, { hint: 'guild task list shows them' });
}

/** An id that no task has is returned as typed; the caller reports it. */
export function meantBy(typed: string, root: string): string {
  if (isTaskName(root, typed)) return typed;
  const [first = typed, ...others] = meantIds(typed, taskNames(root)).sort(compareText);
  if (others.length === 0) return first;
  const some = [first, ...others].slice(0, MOST_MEANT).join(', ');
  const more = others.length >= MOST_MEANT ? ', …' : '';
  throw problemError('bad_usage', `${others.length + 1} tasks end in ${typed}`, {
    hint: `type more of the id: ${some}${more}`,
  });
}

const MOST_MEANT = 5;

/** With a workspace, the hint names a file that could not be read. */
export function unknownTask(id: string, root?: string): Problem {
  return problem('not_found', `there is no task ${id}`, {
    hint: (root === undefined ? undefined : fileHint(id, root)) ?? 'guild task list --all shows all tasks',
  });
}

/** People look up a dropped file under its name, even if it could not be read. */
function fileHint(id: string, root: string): string | undefined {
  const isThere = (file: string): boolean => fs.existsSync(path.join(root, file));
  const isName = path.basename(id) === id;
  if (isName && isThere(`quarantine/${id}.json.why.md`))
    return `the file is in quarantine/${id}.json; quarantine/${id}.json.why.md says why`;
  const state = isName && TASK_STATES.find((name) => isThere(`tasks/${name}/${id}.json`));
  if (state === 'completed' || state === 'failed')
    return `tasks/${state}/${id}.json cannot be read; guild task list --all says why`;
  return state ? `tasks/${state}/${id}.json cannot be read yet; guild task list says why` : undefined;
}
