/**
 * Changes that the conversation does not know yet: a new day, a tool that was taken away or given
 * back. It is announced at the end, because the text before the messages must not change.
 */
import type { Message } from '../../domain/session/session.js';
import type { Task } from '../../domain/task/task.js';
import { todayText } from '../../rules/prompts/today.js';
import type { EngineContext } from '../core/context.js';
import { grantedNames } from '../core/grants.js';
import type { Conversation } from './conversation.js';
import { factsOf } from '../core/message-facts.js';
import { presentAgent } from './rights.js';
import { controlMessage, type Draft } from './decide/step.js';

export function newsFor(context: EngineContext, task: Task, conversation: Conversation): Draft[] {
  return [...newDay(context, conversation), ...toolChanges(context, task, conversation)];
}

function newDay(context: EngineContext, { startedAt, messages }: Conversation): Draft[] {
  const { clock, surroundings } = context;
  // Without a pinned prompt every call says what day it is.
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
  const present = presentAgent(context, agent, task);
  const isSame = present === agent;
  const isTold = (tool: string): boolean => lastWord(messages(), tool) === 'tool_removed';
  const granted = new Set(grantedNames(present, task, context.config.channels));
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
