/**
 * Where a conversation may be cut so that it can go on another way. Not between a tool call and its result: whoever went on from
 * there would have the call done once more.
 */
import { openCalls, type Message } from './session.js';

/** How many messages to keep, close to `wanted`: the next whole place, else the one before. Undefined where there is none. */
export function cutAt(messages: readonly Message[], wanted: number): number | undefined {
  const isWhole = (count: number): boolean => openCalls(messages.slice(0, count)).length === 0;
  for (let count = wanted; count <= messages.length; count++) if (isWhole(count)) return count;
  for (let count = wanted - 1; count >= 1; count--) if (isWhole(count)) return count;
  return undefined;
}

/** The kept messages as the fork begins with them: what they cost was paid by the conversation they come from. */
export function keptMessages(messages: readonly Message[], count: number): Message[] {
  return messages.slice(0, count).map(({ usage: _, ...message }) => message);
}
