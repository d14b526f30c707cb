/** A chat-completions request as the script sees it. */
import { parseMapping } from '../../../../domain/mapping.js';
import type { IncomingHttpHeaders } from 'node:http';
import { defined } from '../../../../domain/defined.js';
import type { Message } from '../../../../domain/session/session.js';
import type { ModelRequest } from '../../../../ports/model.js';
import { introduction, toolSpec } from '../wire/introduction.js';
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';

export function chatRequest(body: Json, headers: IncomingHttpHeaders): ModelRequest {
  const wire = objectsIn(body['messages']);
  const isSystem = ({ role }: Json) => role === 'system' || role === 'developer';
  const messages = wire.filter((message) => !isSystem(message)).map(messageOf);
  return {
    ...introduction(stringOf(body['model']), messages, headers),
    system: wire
      .filter(isSystem)
      .map(({ content }) => contentText(content))
      .join('\n\n'),
    messages,
    tools: objectsIn(body['tools']).map(({ function: tool }) => {
      const { name, description, parameters } = objectOf(tool);
      return toolSpec(name, description, parameters);
    }),
  };
}

/** The text of a message, without thoughts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map(({ text }) => stringOf(text))
    .join('');
}

function messageOf(wire: Json): Message {
  const role = wire['role'] === 'assistant' || wire['role'] === 'tool' ? wire['role'] : 'user';
  const toolCalls = objectsIn(wire['tool_calls']).map(({ id, function: called }) => {
    const { name, arguments: json } = objectOf(called);
    return { id: stringOf(id), name: stringOf(name), arguments: { ...parseMapping(stringOf(json)) } };
  });
  return defined({
    role,
    content: contentText(wire['content']),
    toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
    toolCallId: role === 'tool' ? stringOf(wire['tool_call_id']) : undefined,
  });
}
