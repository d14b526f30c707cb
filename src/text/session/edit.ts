/** Changes the text of one message in the text of a conversation. Every other byte stays. */
import { printMessages } from './print.js';
import { appendPlace } from './tail.js';
import { parseSession } from './parse.js';

/**
 * `n` counts from 1. Undefined: the conversation does not parse, has no such message, or a person
 * formatted it in their own way, so that only an editor can change it safely.
 */
export function editedMessage(text: string, n: number, content: string): string | undefined {
  const parsed = parseSession(text, 'session');
  const indent = appendPlace(text)?.indent;
  if (!parsed.ok || indent === undefined) return undefined;
  const message = parsed.session.messages[n - 1];
  if (message === undefined) return undefined;
  const before = printMessages([message], indent);
  const same = parsed.session.messages
    .slice(0, n - 1)
    .filter((each) => printMessages([each], indent) === before).length;
  const at = occurrence(text, before, same);
  if (at === undefined) return undefined;
  const after = text.slice(0, at) + printMessages([{ ...message, content }], indent) + text.slice(at + before.length);
  const again = parseSession(after, 'session');
  return again.ok && again.session.messages[n - 1]?.content === content ? after : undefined;
}

/** The offset of an occurrence of `part`; `earlier`: how many come before it. */
function occurrence(text: string, part: string, earlier: number): number | undefined {
  let at = text.indexOf(part);
  for (let i = 0; i < earlier && at >= 0; i++) at = text.indexOf(part, at + part.length);
  return at < 0 ? undefined : at;
}
