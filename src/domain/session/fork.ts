/**
 * The points at which a conversation may be forked. A cut between a tool call and its result would
 * repeat the call, so it is not allowed.
 */
import { openCalls, type Message } from './session.js';

/**
 * The number of messages to keep: the next allowed point from `wanted` on, else the one before it.
 */
export function cutAt(messages: readonly Message[], wanted: number): number | undefined {
  const isWhole = (count: number): boolean => openCalls(messages.slice(0, count)).length === 0;
  for (let count = wanted; count <= messages.length; count++) if (isWhole(count)) return count;
  for (let count = wanted - 1; count >= 1; count--) if (isWhole(count)) return count;
  return undefined;
}

/** The messages of the fork, without their cost, which the original conversation has paid. */
export function keptMessages(messages: readonly Message[], count: number): Message[] {
  return messages.slice(0, count).map(({ usage: _, ...message }) => message);
}
