/**
 * Facts about a conversation that its turns ask for. Each message is read once, so a turn costs the
 * same in a long conversation as in a short one.
 */
import { foldMessages } from '../../domain/session/fold.js';
import type { Message, Session } from '../../domain/session/session.js';
import { messageTokens } from '../../rules/budget/reserve.js';
import type { EngineContext, MessageFacts } from './context.js';

type Folding = Pick<EngineContext, 'folds'>;

export function factsOf({ folds }: Folding, messages: readonly Message[]): MessageFacts {
  return folds.facts(messages);
}

/** A reader of facts with its own memory. */
export function factsFold(): (messages: readonly Message[]) => MessageFacts {
  return foldMessages(emptyFacts, addMessage);
}

function addMessage(facts: MessageFacts, message: Message, at: number): void {
  const { kind, task, pins, definition, compacted } = message;
  if (pins !== undefined) facts.pins = pins;
  if (definition !== undefined) facts.definition = definition;
  if (task !== undefined && !facts.tasks.has(task)) facts.tasks.set(task, at);
  if (kind === 'new_day') facts.hasNewDay = true;
  if (kind === 'tool_removed' || kind === 'tool_restored') facts.hasToolNews = true;
  if (message.private !== undefined) facts.hasPrivate = true;
  if (compacted !== undefined) facts.isCompacted = true;
  facts.tokens += messageTokens(message);
  addResult(facts, message);
}

/** Results follow their calls directly; any other order is a gap. */
function addResult(facts: MessageFacts, { role, toolCalls, toolCallId }: Message): void {
  const { openCalls } = facts;
  if (role === 'tool') {
    if (toolCallId === undefined || !openCalls.delete(toolCallId)) facts.hasGaps = true;
    return;
  }
  if (openCalls.size > 0) facts.hasGaps = true;
  openCalls.clear();
  if (role === 'assistant') for (const { id } of toolCalls ?? []) openCalls.add(id);
}

function emptyFacts(): MessageFacts {
  return {
    tasks: new Map(),
    hasNewDay: false,
    hasToolNews: false,
    hasPrivate: false,
    isCompacted: false,
    tokens: 0,
    openCalls: new Set(),
    hasGaps: false,
  };
}

/** The pins that are in force at the end of the conversation; undefined in older files. */
export function pinsInForce(context: Folding, { header, messages }: Session): Session['header']['pins'] {
  return factsOf(context, messages).pins ?? header.pins;
}
