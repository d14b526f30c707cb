/** A message of the engine itself. Its kind says what follows from it; the model reads only its text. */
import type { Message, MessageKind } from '../../domain/session/session.js';
import type { Clock } from '../../ports/clock.js';

export function controlMessage(clock: Pick<Clock, 'now'>, kind: MessageKind, content: string): Message {
  return { role: 'user', from: 'guildhall', kind, content, timestamp: clock.now().toISOString() };
}
