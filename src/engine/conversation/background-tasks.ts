/**
 * Tasks that a conversation created without waiting for them. The outcome of each comes back as one
 * message. The task that created them does not end while any of them is open.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import type { Message } from '../../domain/session/session.js';
import { isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { errorText, fence } from '../../rules/patterns/gather.js';
import type { EngineContext } from '../core/context.js';
import { quoted } from '../core/quote.js';
import type { BackgroundTasks, Draft } from './decide/step.js';

const NONE: BackgroundTasks = { results: [], open: [] };

export async function backgroundTasks(
  context: EngineContext,
  task: Task,
  agent: Agent,
  messages: readonly Message[],
): Promise<BackgroundTasks> {
  if (!agent.tools.includes('create_task')) return NONE;
  const ids = unheard(context, task, messages);
  if (ids.size === 0) return NONE;
  const tasks: BackgroundTasks = { results: [], open: [] };
  for (const id of ids) {
    const child = context.tasks.isOpen(id) ? undefined : await context.tasks.read(id);
    if (child !== undefined && isEnded(child.state)) tasks.results.push(await outcome(context, task, child));
    else if (child !== undefined || context.tasks.isOpen(id)) tasks.open.push(id);
  }
  return tasks;
}

/** Tasks it created whose outcome is not in the conversation yet. */
function unheard({ folds }: EngineContext, task: Task, messages: readonly Message[]): ReadonlySet<string> {
  const before = folds.background.get(messages);
  const fold = before === undefined || before.seen > messages.length ? { seen: 0, ids: new Set<string>() } : before;
  folds.background.set(messages, fold);
  for (; fold.seen < messages.length; fold.seen++) {
    const { role, from, kind, toolCalls, toolCallId, isError } = messages[fold.seen]!;
    for (const call of toolCalls ?? [])
      if (call.name === 'create_task') fold.ids.add(childId(task.id, `call-${call.id}`));
    // Its outcome came back, or it was never created.
    if (kind === 'task_result' && from !== undefined) fold.ids.delete(from);
    if (role === 'tool' && isError) fold.ids.delete(childId(task.id, `call-${toolCallId}`));
  }
  return fold.ids;
}

async function outcome(context: EngineContext, asker: Task, { task, state }: Placed): Promise<Draft> {
  const who = task.to ?? 'nobody';
  const text = await quoted(context, state === 'completed' ? (task.result ?? '') : errorText(task.error));
  return {
    role: 'user',
    content: `The task ${task.id} that you gave to ${who} has ${state}.\n\n${fence(state === 'completed' ? 'result' : 'failure', who, text, asker.id)}`,
    from: task.id,
    kind: 'task_result',
  };
}
