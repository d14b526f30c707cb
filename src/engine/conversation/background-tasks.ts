/**
 * Tasks that a conversation made without waiting for them. The outcome of each comes back as one
 * message. The task that made them is not over while any of them is open.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import type { Message } from '../../domain/session/session.js';
import { isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { errorText, fence } from '../../rules/patterns/gather.js';
import type { EngineContext } from '../core/context.js';
import { quoted } from '../core/quote.js';
import type { BackgroundTasks, Draft } from './step.js';

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

/** Tasks it made and has not heard of since. */
function unheard({ folds }: EngineContext, task: Task, messages: readonly Message[]): ReadonlySet<string> {
  const before = folds.spawned.get(messages);
  const known = before === undefined || before.seen > messages.length ? { seen: 0, ids: new Set<string>() } : before;
  folds.spawned.set(messages, known);
  for (; known.seen < messages.length; known.seen++) {
    const { role, from, kind, toolCalls, toolCallId, isError } = messages[known.seen]!;
    for (const call of toolCalls ?? [])
      if (call.name === 'create_task') known.ids.add(childId(task.id, `call-${call.id}`));
    // It came back, or was never made.
    if (kind === 'task_result' && from !== undefined) known.ids.delete(from);
    if (role === 'tool' && isError) known.ids.delete(childId(task.id, `call-${toolCallId}`));
  }
  return known.ids;
}

async function outcome(context: EngineContext, asker: Task, { task, state }: Placed): Promise<Draft> {
  const who = task.to ?? 'nobody';
  const text = await quoted(context, state === 'completed' ? (task.result ?? '') : errorText(task.error));
  return {
    role: 'user',
    content: `The task ${task.id} that you gave to ${who} is ${state}.\n\n${fence(state === 'completed' ? 'result' : 'failure', who, text, asker.id)}`,
    from: task.id,
    kind: 'task_result',
  };
}
