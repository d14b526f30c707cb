/** A conversation as its file would be. */
import type { Session, SessionHeader } from '../../domain/session/session.js';
import type { Placed } from '../../domain/task/task.js';
import { printHeader, printMessages } from '../../text/session/parse.js';

export function sessionText({ header, messages }: Session): string {
  return printHeader(header) + printMessages(messages);
}

/** The status that the file of a conversation has in a folder, by the state of its task. */
export function sessionStatus({ state }: Placed): SessionHeader['status'] {
  if (state === 'completed') return 'completed';
  if (state === 'failed') return 'error';
  return state === 'waiting' ? 'sleeping' : 'active';
}
