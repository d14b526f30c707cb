/**
 * What a conversation has heard from outside: results of tools that bring in the words of strangers, files of the inbox, and answers of
 * those who heard such words themselves. It is read off the conversation, so a crash cannot make anybody forget it.
 */
import { childId } from '../../domain/task/id.js';
import type { Message, ToolCall } from '../../domain/session/session.js';
import { taintIn, withTaint } from '../../domain/task/taint.js';
import type { Placed, Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

export async function tainted(context: EngineContext, task: Task, messages: readonly Message[]): Promise<Task> {
  let known = context.folds.taint.get(messages);
  if (known === undefined || known.seen > messages.length) known = { seen: 0, calls: new Map(), heard: new Set() };
  context.folds.taint.set(messages, known);
  const { calls, heard } = known;
  for (; known.seen < messages.length; known.seen++) {
    const { role, kind, toolCalls, toolCallId, from } = messages[known.seen]!;
    for (const call of toolCalls ?? []) calls.set(call.id, call);
    const call = role === 'tool' ? calls.get(toolCallId ?? '') : undefined;
    const source = call && sourceOf(context, call);
    if (source !== undefined) heard.add(source);
    const isAnswer = call !== undefined && context.tools.get(call.name)?.kind === 'ask';
    const child = isAnswer ? childId(task.id, `call-${call.id}`) : kind === 'task_result' ? from : undefined;
    if (child !== undefined) for (const one of await taintOfChild(context, task, child)) heard.add(one);
  }
  return withTaint(task, heard);
}

/** With what its children have heard: their answers go into what it asks next, and into its own. */
export function taintedBy(task: Task, children: Iterable<Placed | undefined>): Task {
  return withTaint(
    task,
    [...children].flatMap((child) => (child ? taintIn(child.task) : [])),
  );
}

function sourceOf(context: EngineContext, call: ToolCall): string | undefined {
  const tool = context.tools.get(call.name);
  if (tool?.outside) return `${tool.plugin}/${tool.name}`;
  const { path } = call.arguments;
  const isInbox = call.name === 'read_file' && typeof path === 'string' && /^(?:\.?\/)*inbox\//i.test(path);
  return isInbox ? 'inbox/read_file' : undefined;
}

/** Nothing if this is no child of the task: a message may be from anybody. */
async function taintOfChild(context: EngineContext, task: Task, id: string): Promise<string[]> {
  const placed = await context.tasks.read(id);
  return placed?.task.parent === task.id ? taintIn(placed.task) : [];
}
