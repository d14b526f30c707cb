/**
 * The view for guests. A window for showing and an exported run leave out text from outside:
 * results of tools, messages of others, and the words of tasks that came from outside.
 */
import type { Conversation, ShownCall } from './base/contract.js';
import type { Redaction } from './redact.js';

export const LEFT_OUT = '[text from outside, not shown]';

/** `outside`: the ids of tasks that text from outside had influence on. */
export function forGuests(value: unknown, outside: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => forGuests(each, outside));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  const isOutside = typeof fields['id'] === 'string' ? outside.has(fields['id']) : isTainted(fields);
  return Object.fromEntries(
    Object.entries(fields).map(([key, each]) => [
      key,
      typeof each === 'string' && ((isOutside && WORDS.has(key)) || (key === 'text' && 'source' in fields))
        ? LEFT_OUT
        : forGuests(each, outside),
    ]),
  );
}

/** The words of a task itself. The agent's work on it is the agent's own text. */
const WORDS: ReadonlySet<string> = new Set(['title', 'description', 'result']);

function isTainted({ taint }: Record<string, unknown>): boolean {
  return Array.isArray(taint) && taint.length > 0;
}

export function talkForGuests(talk: Conversation, hide: Redaction): Conversation {
  const { text: _, ...rest } = talk;
  const isOutside = talk.taint.length > 0;
  return {
    ...rest,
    messages: talk.messages.map((message) => ({
      ...message,
      text: message.tainted || (isOutside && message.role === 'user') ? LEFT_OUT : message.text,
      calls: message.calls.map(hide.call).map(withoutResult),
    })),
  };
}

function withoutResult(call: ShownCall): ShownCall {
  return call.result === undefined ? call : { ...call, result: LEFT_OUT };
}
