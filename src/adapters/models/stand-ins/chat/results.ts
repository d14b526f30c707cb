/** Pairs the tool calls of chat completions with the messages that answer them. */
import { objectsIn, stringOf, type Json } from '../wire/json.js';

interface CallGroup {
  /** The place of the assistant message. */
  at: number;
  ids: string[];
  /** The ids of the tool messages right after it. */
  results: string[];
}

export function callGroups(messages: readonly Json[]): { groups: CallGroup[]; orphans: { at: number; id: string }[] } {
  const groups: CallGroup[] = [];
  const orphans: { at: number; id: string }[] = [];
  let open: CallGroup | undefined;
  for (const [at, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      const id = stringOf(message['tool_call_id']);
      if (open?.ids.includes(id) && !open.results.includes(id)) open.results.push(id);
      else orphans.push({ at, id });
      continue;
    }
    const ids = message['role'] === 'assistant' ? objectsIn(message['tool_calls']).map(({ id }) => stringOf(id)) : [];
    open = ids.length > 0 ? { at, ids, results: [] } : undefined;
    if (open) groups.push(open);
  }
  return { groups, orphans };
}
