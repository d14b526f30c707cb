/**
 * Outside sources whose text a conversation contains: results of tools that fetch it, files and
 * messages that carry it, and answers of tainted children. Derived from the messages, so it
 * survives a crash.
 */
import { childId } from '../../domain/task/id.js';
import type { Message, ToolCall } from '../../domain/session/session.js';
import { taintIn, withTaint } from '../../domain/task/taint.js';
import type { Placed, Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';
import { sourcesOf } from './sources.js';

export async function tainted(context: EngineContext, task: Task, messages: readonly Message[]): Promise<Task> {
  let fold = context.folds.taint.get(messages);
  if (fold === undefined || fold.seen > messages.length) fold = { seen: 0, calls: new Map(), heard: new Set() };
  context.folds.taint.set(messages, fold);
  const { calls, heard } = fold;
  for (; fold.seen < messages.length; fold.seen++) {
    const { role, kind, toolCalls, toolCallId, from, content, taint } = messages[fold.seen]!;
    for (const source of taint ?? []) heard.add(source);
    for (const call of toolCalls ?? []) calls.set(call.id, call);
    const call = role === 'tool' ? calls.get(toolCallId ?? '') : undefined;
    if (call !== undefined)
      for (const source of await sourcesOf(context, task.to ?? '', call, content)) heard.add(source);
    if (call !== undefined && showsOtherText(context, task, call, messages.slice(0, fold.seen)))
      heard.add('storage/blobs');
    const isAnswer = call !== undefined && context.tools.get(call.name)?.kind === 'ask';
    const child = isAnswer ? childId(task.id, `call-${call.id}`) : kind === 'task_result' ? from : undefined;
    if (child !== undefined) for (const outside of await taintOfChild(context, task, child)) heard.add(outside);
  }
  return withTaint(task, heard);
}

/**
 * The texts in `storage/blobs` come from every task and do not say from which. A text that this
 * conversation has named is known already: the message that named it carries the taint.
 */
function showsOtherText(context: EngineContext, task: Task, call: ToolCall, before: readonly Message[]): boolean {
  const { path, command } = call.arguments;
  // A link must not hide where the file is.
  const place =
    typeof path === 'string' ? (context.workspaceFiles.judge(task.to ?? '', 'read', path).path ?? path) : undefined;
  const asked = call.name === 'read_file' ? place : call.name === 'execute_command' ? String(command) : undefined;
  if (asked === undefined) return false;
  if (!/storage\/+(?:\.\/+)*blobs/i.test(asked)) return false;
  const hashes = asked.match(/[0-9a-f]{64}/g) ?? [];
  const isKnown = (hash: string): boolean =>
    before.some(({ role, content }) => role !== 'assistant' && content.includes(`storage/blobs/${hash}`));
  return hashes.length === 0 || !hashes.every(isKnown);
}

/** Adds the taint of children, whose answers go into its next requests and its own answer. */
export function taintedBy(task: Task, children: Iterable<Placed | undefined>): Task {
  return withTaint(
    task,
    [...children].flatMap((child) => (child ? taintIn(child.task) : [])),
  );
}

/** Empty unless this is a child of the task: a message may come from any task. */
async function taintOfChild(context: EngineContext, task: Task, id: string): Promise<string[]> {
  const placed = await context.tasks.read(id);
  return placed?.task.parent === task.id ? taintIn(placed.task) : [];
}
