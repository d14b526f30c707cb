/**
 * Outside sources whose text a conversation contains: results of tools that fetch it, inbox files,
 * and answers of tainted children. Derived from the messages, so it survives a crash.
 */
import { childId } from '../../domain/task/id.js';
import type { Message, ToolCall } from '../../domain/session/session.js';
import { taintIn, withTaint } from '../../domain/task/taint.js';
import type { Placed, Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

export async function tainted(context: EngineContext, task: Task, messages: readonly Message[]): Promise<Task> {
  let fold = context.folds.taint.get(messages);
  if (fold === undefined || fold.seen > messages.length) fold = { seen: 0, calls: new Map(), heard: new Set() };
  context.folds.taint.set(messages, fold);
  const { calls, heard } = fold;
  for (; fold.seen < messages.length; fold.seen++) {
    const { role, kind, toolCalls, toolCallId, from } = messages[fold.seen]!;
    for (const call of toolCalls ?? []) calls.set(call.id, call);
    const call = role === 'tool' ? calls.get(toolCallId ?? '') : undefined;
    const source = call && sourceOf(context, call);
    if (source !== undefined) heard.add(source);
    const isAnswer = call !== undefined && context.tools.get(call.name)?.kind === 'ask';
    const child = isAnswer ? childId(task.id, `call-${call.id}`) : kind === 'task_result' ? from : undefined;
    if (child !== undefined) for (const outside of await taintOfChild(context, task, child)) heard.add(outside);
  }
  return withTaint(task, heard);
}

/** Adds the taint of children, whose answers go into its next requests and its own answer. */
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

/** Empty unless this is a child of the task: a message may come from any task. */
async function taintOfChild(context: EngineContext, task: Task, id: string): Promise<string[]> {
  const placed = await context.tasks.read(id);
  return placed?.task.parent === task.id ? taintIn(placed.task) : [];
}
