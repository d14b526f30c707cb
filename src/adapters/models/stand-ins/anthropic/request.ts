/** The request as the script sees it. */
import type { IncomingHttpHeaders } from 'node:http';
import { defined } from '../../../../domain/defined.js';
import type { Message } from '../../../../domain/session/session.js';
import type { ModelRequest } from '../../../../ports/model.js';
import { objectsIn, stringOf, type Json } from '../wire/json.js';
import { introduction, toolSpec } from '../wire/introduction.js';
import { blocksOf, textOf, type Turn } from './turns.js';

export function requestOf(body: Json, turns: readonly Turn[], headers: IncomingHttpHeaders): ModelRequest {
  const messages = turns.flatMap(messagesOf);
  return {
    ...introduction(stringOf(body['model']), messages, headers),
    system: blocksOf(body['system']).map(textOf).join('\n\n'),
    messages,
    tools: objectsIn(body['tools']).map(({ name, description, input_schema }) =>
      toolSpec(name, description, input_schema),
    ),
  };
}

function messagesOf({ role, blocks }: Turn): Message[] {
  if (role === 'assistant') {
    const calls = blocks.filter(({ block }) => block['type'] === 'tool_use');
    const text = blocks.filter(({ block }) => block['type'] === 'text').map(({ block }) => textOf(block));
    const toolCalls = calls.map(({ block }) => ({
      id: stringOf(block['id']),
      name: stringOf(block['name']),
      arguments: (block['input'] ?? {}) as Record<string, unknown>,
    }));
    return [defined({ role, content: text.join(''), toolCalls: toolCalls.length > 0 ? toolCalls : undefined })];
  }
  return blocks.map(({ block }) =>
    block['type'] === 'tool_result'
      ? defined({
          role: 'tool',
          content: textOf(block),
          toolCallId: stringOf(block['tool_use_id']),
          isError: block['is_error'] === true ? true : undefined,
        })
      : { role: role === 'system' ? 'system' : 'user', content: textOf(block) },
  );
}
