/**
 * Facts about a conversation that its turns ask for. Each message is read once, so that a turn of a
 * long conversation costs what a turn of a short one does.
 */
import type { Message, Session } from '../../domain/session/session.js';
import { messageTokens } from '../../rules/budget/reserve.js';
import type { EngineContext, MessageFacts } from './context.js';

type Folding = Pick<EngineContext, 'folds'>;

export function factsOf({ folds }: Folding, messages: readonly Message[]): MessageFacts {
  let facts = folds.facts.get(messages);
  // Messages are only appended; a list that has become shorter is another conversation.
  if (facts === undefined || facts.seen > messages.length) facts = emptyFacts();
  folds.facts.set(messages, facts);
  for (; facts.seen < messages.length; facts.seen++) {
    const message = messages[facts.seen]!;
    const { kind, task, pins, definition, compacted } = message;
    if (pins !== undefined) facts.pins = pins;
    if (definition !== undefined) facts.definition = definition;
    if (task !== undefined) facts.tasks.add(task);
    if (kind === 'new_day') facts.hasNewDay = true;
    if (kind === 'tool_removed' || kind === 'tool_restored') facts.hasToolNews = true;
    if (message.private !== undefined) facts.hasPrivate = true;
    if (compacted !== undefined) facts.isCompacted = true;
    facts.tokens += messageTokens(message);
  }
  return facts;
}

function emptyFacts(): MessageFacts {
  return {
    seen: 0,
    tasks: new Set(),
    hasNewDay: false,
    hasToolNews: false,
    hasPrivate: false,
    isCompacted: false,
    tokens: 0,
  };
}

/** The pins that are in force at the end of the conversation; undefined in older files. */
export function pinsInForce(context: Folding, { header, messages }: Session): Session['header']['pins'] {
  return factsOf(context, messages).pins ?? header.pins;
}
