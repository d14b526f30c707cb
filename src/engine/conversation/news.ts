/**
 * Changes that the conversation does not know yet: a new day, a tool that was taken away, given
 * back, added or changed. They are announced at the end. The text before the messages changes only
 * if the list of tools must.
 */
import type { Message } from '../../domain/session/session.js';
import type { Task } from '../../domain/task/task.js';
import type { ToolSpec } from '../../ports/model.js';
import { todayText } from '../../rules/prompts/today.js';
import type { EngineContext } from '../core/context.js';
import { grantedNames } from '../core/grants.js';
import type { Conversation } from './conversation.js';
import { factsOf } from '../core/message-facts.js';
import { grantedTools, isOffered } from './prompt.js';
import { presentAgent, presentFile } from './rights.js';
import { controlMessage, type Draft } from './decide/step.js';

export function newsFor(context: EngineContext, task: Task, conversation: Conversation): Draft[] {
  return [...newDay(context, conversation), ...toolChanges(context, task, conversation)];
}

/**
 * Announces tools that a person added to the agent's file or a plugin added to its own, and tools
 * of plugins that have changed. The message pins the longer list. True if there was one to
 * announce.
 */
export async function announceTools(context: EngineContext, task: Task, conversation: Conversation): Promise<boolean> {
  const offered = newTools(context, task, conversation);
  if (offered.length === 0) return false;
  const known = new Set(conversation.head().tools.map(({ name }) => name));
  const names = (isKnown: boolean): string =>
    offered.flatMap(({ name }) => (known.has(name) === isKnown ? name : [])).join(', ');
  const added = names(false);
  const changed = names(true);
  await conversation.offer(
    offered,
    [
      ...(added === '' ? [] : [`You can now also call: ${added}.`]),
      ...(changed === '' ? [] : [`The description or the parameters of these tools have changed: ${changed}.`]),
    ].join(' '),
  );
  return true;
}

function newTools(context: EngineContext, task: Task, { agent, head, startedAt }: Conversation): ToolSpec[] {
  // A conversation without pinned tools gets the current tools every time it is opened.
  if (startedAt === undefined) return [];
  const present = presentFile(context, agent, task);
  const pinned = head().tools;
  const isNew = (name: string): boolean => {
    const known = pinned.find((tool) => tool.name === name);
    return known === undefined ? isOffered(context, name) : hasChanged(context, known);
  };
  const names = new Set(grantedNames(present, task, context.config.channels).filter(isNew));
  return names.size === 0 ? [] : grantedTools(context, present, task).filter(({ name }) => names.has(name));
}

/**
 * Built-in tools never count as changed: the lists in their schemas change often, and their errors
 * name the valid values.
 */
function hasChanged({ tools }: EngineContext, { name, description, parameters }: ToolSpec): boolean {
  const tool = tools.get(name);
  if (tool?.plugin === undefined) return false;
  return tool.description !== description || JSON.stringify(tool.parameters) !== JSON.stringify(parameters);
}

function newDay(context: EngineContext, { startedAt, messages }: Conversation): Draft[] {
  const { clock, surroundings } = context;
  // Without a pinned prompt every call states the day.
  if (startedAt === undefined) return [];
  const dayOf = (iso: string): string => todayText(new Date(iso), surroundings.timeZone);
  const today = todayText(clock.now(), surroundings.timeZone);
  if (dayOf(startedAt) === today && !factsOf(context, messages()).hasNewDay) return [];
  const said = messages().findLast(isNewDay)?.timestamp ?? startedAt;
  return dayOf(said) === today ? [] : [controlMessage('new_day', `It is now ${today}.`)];
}

function isNewDay({ kind }: Message): boolean {
  return kind === 'new_day';
}

function toolChanges(context: EngineContext, task: Task, conversation: Conversation): Draft[] {
  const { agent, head, messages } = conversation;
  const present = presentAgent(context, conversation, task);
  const isSame = present === agent;
  const isTold = (tool: string): boolean => lastWord(messages(), tool) === 'tool_removed';
  const names = grantedNames(present, task, context.config.channels);
  const granted = new Set(names.filter((name) => context.tools.has(name)));
  const pinned = head().tools.map(({ name }) => name);
  // Usually nothing was ever taken away, and then no message is read.
  if (isSame && pinned.every((name) => granted.has(name)) && !factsOf(context, messages()).hasToolNews) return [];
  return pinned.flatMap((tool) => {
    if (granted.has(tool) === !isTold(tool)) return [];
    return granted.has(tool)
      ? [{ ...controlMessage('tool_restored', `You can call ${tool} again.`), name: tool }]
      : [{ ...controlMessage('tool_removed', `You can no longer call ${tool}.`), name: tool }];
  });
}

function isToolNews({ kind }: Message): boolean {
  return kind === 'tool_removed' || kind === 'tool_restored';
}

function lastWord(messages: readonly Message[], tool: string): Message['kind'] {
  return messages.findLast((message) => isToolNews(message) && message.name === tool)?.kind;
}
