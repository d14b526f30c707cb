/** State that is read from the messages of a conversation. Each message is read once. */
import type { Message } from './session.js';

/**
 * Returns a reader of message lists. It remembers the state of each list and continues from there:
 * a list only grows, and an edit makes a new list. `add` changes the state.
 */
export function foldMessages<State extends object>(
  start: () => State,
  add: (state: State, message: Message, at: number) => void,
): (messages: readonly Message[]) => State {
  const folds = new WeakMap<readonly Message[], { seen: number; state: State }>();
  return (messages) => {
    let fold = folds.get(messages);
    // A list that has become shorter is a different conversation.
    if (fold === undefined || fold.seen > messages.length) folds.set(messages, (fold = { seen: 0, state: start() }));
    for (; fold.seen < messages.length; fold.seen++) add(fold.state, messages[fold.seen]!, fold.seen);
    return fold.state;
  };
}
