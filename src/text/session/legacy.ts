/**
 * Fields that messages of earlier versions lack. Before `kind` and `code` existed, the purpose of a
 * message was in its `from` or in its wording. Only this file recognises those names and sentences,
 * so their wording must not change.
 */
import { isProblemCode, type ProblemCode } from '../../domain/problem.js';
import type { Message, MessageKind } from '../../domain/session/session.js';

/**
 * Adds the fields that an earlier version left out. The first message of a task is its description,
 * and never came from the engine.
 */
export function withLegacyFields(message: Message, isFirst: boolean): Message {
  if (isFirst || message.task !== undefined) return message;
  if (message.role === 'user') {
    const kind = message.kind ?? kindOf(message);
    return kind === undefined ? message : { ...message, kind };
  }
  if (message.role !== 'tool') return message;
  const code = message.code ?? codeOf(message);
  const child = message.kind === undefined ? CHILD.exec(message.content)?.[1] : undefined;
  return {
    ...message,
    ...(code === undefined ? {} : { code }),
    ...(child === undefined ? {} : { kind: 'agent_response', from: child }),
  };
}

const FROM: Readonly<Record<string, MessageKind>> = {
  'guildhall:plan': 'plan_request',
  'guildhall:go': 'plan_approved',
  'guildhall:owed': 'required_call_reminder',
  'guildhall:given-up': 'required_call_missing',
  'guildhall-loop': 'loop_warning',
};
const ANSWER_NOW = 'Answer now, in words, with what you have; no tool can be called any more.';
const NOTE = /^Note from \S+ on the channel /;
const TASK_RESULT = /^The task (\S+) that you gave to \S+ is (?:completed|failed)\./;
const CHILD = /^\{"agent_name":[^]*?"metadata":\{"task":"([^"]+)"/;

function kindOf({ from, content }: Message): MessageKind | undefined {
  if (from === undefined) return undefined;
  if (Object.hasOwn(FROM, from)) return FROM[from];
  if (from === 'guildhall' && content.endsWith(ANSWER_NOW)) return 'last_turn';
  if (NOTE.test(content)) return 'note';
  return TASK_RESULT.exec(content)?.[1] === from ? 'task_result' : undefined;
}

function codeOf({ isError, content }: Message): ProblemCode | undefined {
  const code = isError ? /^(\w+): /.exec(content)?.[1] : undefined;
  return isProblemCode(code) ? code : undefined;
}
