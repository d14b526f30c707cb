/** Which conversation `--continue` means, and the next message in it. */
import type { Workspace } from '../../../app/index.js';
import { resumeTask } from '../../../app/pause.js';
import { problemError } from '../../../domain/problem.js';
import { compareText } from '../../../domain/order.js';
import { ENGINE, HUMAN, isEnded, type Placed } from '../../../domain/task/task.js';
import { isTaskName, taskNames } from '../../../app/readers/task-names.js';
import { meantIds } from '../../../views/short-id.js';
import { summary } from '../../../views/summary.js';
import type { Call } from '../../args/command.js';
import { oneLine } from '../../render/layout.js';

/** The task that the first word names, or the last conversation of the person. */
export async function conversationMeant(
  call: Call,
  workspace: Workspace,
): Promise<{ placed: Placed; words: string[] }> {
  const [first, ...rest] = call.words;
  const named = first === undefined ? undefined : nameOf(call.root, first);
  const placed = named === undefined ? await lastConversation(workspace) : await workspace.task(named);
  if (placed === undefined)
    throw problemError('not_found', 'there is no conversation to continue', {
      hint: 'start one with guild run <agent> <text>',
    });
  return { placed, words: named === undefined ? call.words : rest };
}

function nameOf(root: string, typed: string): string | undefined {
  if (isTaskName(root, typed)) return typed;
  const meant = meantIds(typed, taskNames(root));
  return meant.length === 1 ? meant[0] : undefined;
}

const LOOKED_AT = 200;

/** The newest task that a person gave to an agent. */
export async function lastConversation(workspace: Workspace, agent?: string): Promise<Placed | undefined> {
  const isOurs = ({ task }: Placed): boolean =>
    task.parent === undefined &&
    task.from === HUMAN &&
    task.to !== undefined &&
    task.to !== HUMAN &&
    task.to !== ENGINE &&
    (agent === undefined || task.to === agent);
  const ended = (await workspace.endedTasks({ limit: LOOKED_AT })).filter(isOurs);
  const open = (await workspace.openTasks()).filter(isOurs);
  return [...open, ...ended].sort((a, b) => compareText(b.task.created_at, a.task.created_at))[0];
}

/** Adds the message and returns the task that answers it. */
export async function sendMessage(
  call: Call,
  workspace: Workspace,
  placed: Placed,
  message: string,
  attachments?: string[],
): Promise<string> {
  const { terminal } = call;
  const { task, state } = placed;
  terminal.say(terminal.dim(`continuing “${oneLine(summary(task), 60)}” with ${task.to}`));
  await resumeTask(call.root, task.root);
  if (!isEnded(state)) {
    if (attachments !== undefined)
      throw problemError('bad_usage', `${task.id} is ${state}; a file can be attached when it has ended`, {
        hint: 'name the file in your message; the agent can read it',
      });
    if (message !== '') await workspace.tell(task.id, message);
    return task.id;
  }
  if (message === '')
    throw problemError('bad_usage', `${task.id} has ended (${state}); say how it continues`, {
      hint: state === 'failed' ? `guild task retry ${task.id} tries it again` : 'guild run -c <text>',
    });
  return (await workspace.followUp(task.id, message, attachments)).id;
}
