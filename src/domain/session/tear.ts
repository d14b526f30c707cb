/**
 * Whether the end of a conversation is lost. A cut file may still be valid YAML, so its text alone
 * does not show it. The task's record knows how much of the conversation was safely written.
 */
import { problem, type Problem } from '../problem.js';
import type { Written } from '../task/task.js';
import type { Message, Session } from './session.js';

export function writtenPart(messages: readonly Message[], count: number): Written | undefined {
  const last = messages[count - 1];
  return last === undefined ? undefined : { messages: count, last: nameOf(last) };
}

/**
 * Why the conversation must not be used: messages at its end are missing or cut off. A person who
 * removed them says so with `kept: <number of messages>` in the header, which counts only for that
 * number. A message that is missing further up was removed by a person: a cut removes only the end.
 */
export function tornEnd(
  { header, messages }: Session,
  written: Written | undefined,
  file: string,
): Problem | undefined {
  const last = messages.at(-1);
  if (written === undefined || messages.length > written.messages || header.kept === messages.length) return undefined;
  const isCut = last !== undefined && last.timestamp === undefined;
  const isShort = messages.length < written.messages;
  if ((!isCut && !isShort) || (last !== undefined && nameOf(last) === written.last)) return undefined;
  const what = isShort
    ? `the conversation has ${messages.length} of at least ${written.messages} messages: its end is missing`
    : 'the last message of the conversation is cut off: it has no timestamp';
  return problem('bad_file', what, {
    where: { file },
    hint: `put the end back, for example from a backup or the history; if you removed it on purpose, add the line "kept: ${messages.length}" above "messages:"`,
  });
}

function nameOf({ role, timestamp }: Message): string {
  return `${role} ${timestamp ?? ''}`;
}
