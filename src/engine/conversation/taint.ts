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
    const { role, kind, toolCalls, toolCallId, from, content } = messages[fold.seen]!;
    for (const call of toolCalls ?? []) calls.set(call.id, call);
    const call = role === 'tool' ? calls.get(toolCallId ?? '') : undefined;
    if (call !== undefined) for (const source of await sourcesOf(context, call, content)) heard.add(source);
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

/** The outside sources of a result: of the tool itself, or of the files that it shows. */
async function sourcesOf(context: EngineContext, call: ToolCall, content: string): Promise<string[]> {
  const tool = context.tools.get(call.name);
  if (tool?.outside) return [`${tool.plugin ?? 'web'}/${tool.name}`];
  const { path, session, command } = call.arguments;
  if (call.name === 'read_file' && typeof path === 'string') return fileSources(context, call.name, [path]);
  if (call.name === 'search_files') return fileSources(context, call.name, pathsIn(content));
  if (call.name === 'read_session' && typeof session === 'string') return taintOfSession(context, session);
  if (call.name === 'execute_command' && typeof command === 'string')
    return fileSources(context, call.name, wordsIn(command));
  return [];
}

async function fileSources(context: EngineContext, tool: string, paths: readonly string[]): Promise<string[]> {
  const sources: string[] = [];
  for (const path of paths) {
    if (/^(?:\.?\/)*inbox(?:\/|$)/i.test(path)) sources.push(`inbox/${tool}`);
    const [, session] = /^(?:\.?\/)*sessions\/(.+)\.session\.yaml$/.exec(path) ?? [];
    sources.push(...(session ? await taintOfSession(context, session) : context.fileTaint.of(path)));
  }
  return sources;
}

const MAX_PATHS = 50;

/** `path:line: text`, as search_files prints it. */
function pathsIn(content: string): string[] {
  const paths = content.split('\n').flatMap((line) => /^([^\n:]+):\d+: /.exec(line)?.[1] ?? []);
  return [...new Set(paths)].slice(0, MAX_PATHS);
}

/** Any word of a command may name a file that it shows. */
function wordsIn(command: string): string[] {
  const words = command.split(/[\s'"<>|;&=]+/).filter((word) => word !== '' && !word.startsWith('-'));
  return [...new Set(words)].slice(0, MAX_PATHS);
}

/** A conversation carries the taint of its task. */
async function taintOfSession(context: EngineContext, session: string): Promise<string[]> {
  for (const name of context.agents.all().keys()) {
    if (!session.startsWith(`${name}-`)) continue;
    const placed = await context.tasks.read(session.slice(name.length + 1));
    if (placed !== undefined) return taintIn(placed.task);
  }
  return [];
}

/** Empty unless this is a child of the task: a message may come from any task. */
async function taintOfChild(context: EngineContext, task: Task, id: string): Promise<string[]> {
  const placed = await context.tasks.read(id);
  return placed?.task.parent === task.id ? taintIn(placed.task) : [];
}
