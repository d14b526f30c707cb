/** Reads a generateContent request; fields may be written in camel case or in snake case. */
import { isMapping } from '../../../../domain/mapping.js';
import type { IncomingHttpHeaders } from 'node:http';
import { defined } from '../../../../domain/defined.js';
import type { Message } from '../../../../domain/session/session.js';
import type { ModelRequest } from '../../../../ports/model.js';
import { introduction, toolSpec } from '../wire/introduction.js';
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';

/** Fields whose content belongs to the caller. */
const OPAQUE = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
  'labels',
]);

/** The same request with all field names in camel case. */
export function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [name, OPAQUE.has(name) ? inner : camelCased(inner)];
    }),
  );
}

export function partsOf(content: unknown): Json[] {
  return objectsIn(objectOf(content)['parts']);
}

export function requestOf(model: string, body: Json, headers: IncomingHttpHeaders): ModelRequest {
  const contents = objectsIn(body['contents']);
  const messages = contents.flatMap((content, at) => messagesOf(content, at));
  for (const [at, message] of messages.entries()) if (message.role === 'tool') nameCall(messages, at);
  return {
    ...introduction(model, messages, headers),
    system: partsOf(body['systemInstruction'])
      .map(({ text }) => stringOf(text))
      .join('\n\n'),
    messages,
    tools: objectsIn(body['tools'])
      .flatMap(({ functionDeclarations }) => objectsIn(functionDeclarations))
      .map(({ name, description, parameters, parametersJsonSchema }) =>
        toolSpec(name, description, parametersJsonSchema ?? parameters),
      ),
  };
}

function messagesOf(content: Json, at: number): Message[] {
  const parts = partsOf(content);
  const said = (list: Json[]) =>
    list
      .filter(({ thought }) => thought !== true)
      .map(({ text }) => stringOf(text))
      .join('');
  if (content['role'] === 'model') {
    const toolCalls = parts.flatMap(({ functionCall }, index) =>
      isMapping(functionCall)
        ? [
            {
              id: `${at}.${index}`,
              name: stringOf(functionCall['name']),
              arguments: { ...objectOf(functionCall['args']) },
            },
          ]
        : [],
    );
    return [
      defined({ role: 'assistant', content: said(parts), toolCalls: toolCalls.length > 0 ? toolCalls : undefined }),
    ];
  }
  return parts.map(({ functionResponse, text }): Message => {
    if (!isMapping(functionResponse)) return { role: 'user', content: stringOf(text) };
    const { name, response } = functionResponse;
    return { role: 'tool', name: stringOf(name), content: responseText(objectOf(response)) };
  });
}

/** The text that a client wrapped in an object. */
function responseText(response: Json): string {
  const inner = response['content'] ?? response['output'] ?? response['result'] ?? response['error'];
  return typeof inner === 'string' ? inner : JSON.stringify(inner ?? response);
}

/** Responses have no ids on older models: they answer the calls in order. */
function nameCall(messages: Message[], at: number): void {
  const caller = messages.findLastIndex((message, index) => index < at && message.role === 'assistant');
  const call = messages[caller]?.toolCalls?.[at - caller - 1];
  if (call) messages[at]!.toolCallId = call.id;
}
