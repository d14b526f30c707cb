/**
 * Outside sources whose text a conversation contains: of the tasks that speak in it, of results of
 * tools that fetch it, of files and messages that carry it, and of answers of tainted children.
 * Derived from the messages and the records of tasks, so it survives a crash.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import type { Message, Session, ToolCall } from '../../domain/session/session.js';
import { taintIn, withTaint } from '../../domain/task/taint.js';
import type { Placed, Task } from '../../domain/task/task.js';
import type { Tasks } from '../../ports/store/tasks.js';
import type { EngineContext, TaintFold } from '../core/context.js';
import { sourcesOf } from './sources.js';

/** An open conversation. */
interface Spoken {
  id: string;
  agent: Pick<Agent, 'name'>;
  startedBy?: string;
  messages(): readonly Message[];
}

export async function tainted(context: EngineContext, task: Task, conversation: Spoken): Promise<Task> {
  const messages = conversation.messages();
  let fold = context.folds.taint.get(messages);
  if (fold === undefined || fold.seen > messages.length) fold = newFold(conversation.startedBy);
  context.folds.taint.set(messages, fold);
  // Taken from memory: the record of this task may be older.
  for (const source of taintIn(task)) fold.heard.add(source);
  fold.owners.add(task.id);
  await hear(context, fold, conversation.agent.name, messages, new Set([conversation.id]));
  return withTaint(task, fold.heard);
}

/** The taint of a conversation that an agent reads, whichever tasks have spoken in it. */
export async function taintOfSession(
  context: EngineContext,
  id: string,
  visited: Set<string> = new Set(),
): Promise<Iterable<string>> {
  // Two conversations may have read each other.
  if (visited.has(id)) return [];
  visited.add(id);
  const opened = await context.sessions.open(id);
  // Text that cannot be read as a conversation may come from anywhere.
  if (opened.kind === 'held') return [`session/${id}`];
  if (opened.kind === 'missing') return [];
  const { header, messages } = opened.session;
  // Another task may be speaking in it meanwhile, so this reading uses a separate fold.
  const fold = newFold(header.task);
  await hear(context, fold, header.agentId, messages, visited);
  return fold.heard;
}

/** The recorded taint of the messages, of their tasks and of the children that answered in them. */
export async function recordedTaint(tasks: Pick<Tasks, 'read'>, { header, messages }: Session): Promise<string[]> {
  const fold = newFold(header.task);
  await hearOwners(tasks, fold, messages);
  for (const message of messages) await recordedIn(tasks, fold, message, () => true, true);
  return [...fold.heard];
}

/**
 * Adds the taint of the tasks of a conversation. A task that answered has read everything before
 * its answer, and its record has that taint, so the records of earlier tasks are not read.
 */
async function hearOwners(tasks: Pick<Tasks, 'read'>, fold: TaintFold, messages: readonly Message[]): Promise<void> {
  const latestFirst = messages.flatMap(({ task }) => task ?? []).reverse();
  let isKnown = false;
  for (const owner of [...latestFirst, ...(fold.owner === undefined ? [] : [fold.owner])]) {
    if (fold.owners.has(owner)) continue;
    fold.owners.add(owner);
    const placed: Placed | undefined = isKnown ? undefined : await tasks.read(owner);
    for (const source of placed === undefined ? [] : taintIn(placed.task)) fold.heard.add(source);
    isKnown ||= placed?.state === 'completed';
  }
}

/** Continues the fold with the messages that it has not seen. */
async function hear(
  context: EngineContext,
  fold: TaintFold,
  agent: string,
  messages: readonly Message[],
  visited: Set<string>,
): Promise<void> {
  const { calls, heard } = fold;
  const isAsk = (name: string): boolean => context.tools.get(name)?.kind === 'ask';
  // The messages of a shared conversation carry the taint of their tasks, of which there are many.
  const isShared = context.agents.all().get(agent)?.session === 'shared';
  if (fold.seen === 0 && !isShared) await hearOwners(context.tasks, fold, messages);
  for (; fold.seen < messages.length; fold.seen++) {
    const message = messages[fold.seen]!;
    await recordedIn(context.tasks, fold, message, isAsk, !isShared);
    const call = message.role === 'tool' ? calls.get(message.toolCallId ?? '') : undefined;
    if (call === undefined) continue;
    const ofSession = (id: string): Promise<Iterable<string>> => taintOfSession(context, id, visited);
    for (const source of await sourcesOf(context, agent, call, message.content, ofSession)) heard.add(source);
    if (showsOtherText(context, agent, call, messages.slice(0, fold.seen))) heard.add('storage/blobs');
  }
}

function newFold(startedBy: string | undefined): TaintFold {
  return { seen: 0, calls: new Map(), heard: new Set(), owner: startedBy, owners: new Set() };
}

/** Adds the recorded taint of one message: its own, its task's, and that of a child it quotes. */
async function recordedIn(
  tasks: Pick<Tasks, 'read'>,
  fold: TaintFold,
  message: Message,
  isAsk: (tool: string) => boolean,
  readsOwners: boolean,
): Promise<void> {
  const { role, kind, toolCalls, toolCallId, from, taint, task } = message;
  const { calls, heard, owners } = fold;
  fold.owner = task ?? fold.owner;
  const { owner } = fold;
  if (owner !== undefined && !owners.has(owner)) {
    owners.add(owner);
    const placed = readsOwners ? await tasks.read(owner) : undefined;
    for (const source of placed === undefined ? [] : taintIn(placed.task)) heard.add(source);
  }
  for (const source of taint ?? []) heard.add(source);
  for (const call of toolCalls ?? []) calls.set(call.id, call);
  const call = role === 'tool' ? calls.get(toolCallId ?? '') : undefined;
  const isAnswer = call !== undefined && owner !== undefined && isAsk(call.name);
  const child = isAnswer ? childId(owner, `call-${call.id}`) : kind === 'task_result' ? from : undefined;
  const placed = child === undefined ? undefined : await tasks.read(child);
  // `from` may name any task; only the answer of a child counts.
  if (placed === undefined || !owners.has(placed.task.parent ?? '')) return;
  for (const source of taintIn(placed.task)) heard.add(source);
}

/**
 * The texts in `storage/blobs` come from every task and do not say from which. A text that this
 * conversation has named is already covered: the message that named it carries the taint.
 */
function showsOtherText(context: EngineContext, agent: string, call: ToolCall, before: readonly Message[]): boolean {
  const { path, command } = call.arguments;
  // A link must not hide where the file is.
  const place = typeof path === 'string' ? (context.workspaceFiles.judge(agent, 'read', path).path ?? path) : undefined;
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
