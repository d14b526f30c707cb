/** OpenAI's Responses API: `POST /v1/responses`. Items are kept only if `store` is not false. */
import { parseMapping } from '../../../../domain/mapping.js';
import type { IncomingHttpHeaders } from 'node:http';
import { defined } from '../../../../domain/defined.js';
import type { Message } from '../../../../domain/session/session.js';
import type { ModelRequest } from '../../../../ports/model.js';
import { contentText } from '../chat/request.js';
import { introduction, toolSpec } from '../wire/introduction.js';
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import { promptCache } from '../wire/prompt-cache.js';
import { judge } from '../wire/rule.js';
import { digest, idOf, seal } from '../wire/seal.js';
import type { StandIn, StandInOptions } from '../wire/stand-in.js';
import { tokensOf } from '../wire/tokens.js';
import { checkItems } from './check-items.js';
import { checkRequest } from './check-responses.js';
import { responsesEncoder } from './encode-responses.js';
import { checkEnvelope, errorBody, failure } from './errors.js';
import { reasons } from './families.js';

const CACHE_LIFE_MS = 30 * 60_000;

export function openaiResponses({ now }: StandInOptions): StandIn {
  const cache = promptCache({ now, lifeMs: CACHE_LIFE_MS });
  const stored = new Map<string, { item: Json; reasoning?: string }>();
  return {
    base: '/v1',
    errorBody,
    failure,
    receive(call) {
      const verdict = judge();
      const family = checkEnvelope(call, '/v1/responses', '4', verdict);
      const { body } = call;
      if (family === undefined || body === undefined) return verdict;
      checkRequest(body, family, verdict);
      const items = itemsOf(body['input']).map((item) =>
        item['type'] === 'item_reference' ? (stored.get(stringOf(item['id']))?.item ?? item) : item,
      );
      checkItems(items, body, family, stored, verdict);
      const prompt = [...objectsIn(body['tools']), body['instructions'] ?? '', ...items]
        .map((part) => JSON.stringify(part))
        .join('\n');
      const tokens = tokensOf(prompt);
      if (tokens > family.window)
        verdict.refuse(
          '4.prompt-length',
          'Your input exceeds the context window of this model. Please adjust your input and try again.',
          { param: 'input', code: 'context_length_exceeded' },
        );
      if (verdict.refusals.length > 0) return verdict;
      const model = stringOf(body['model']);
      const seed = digest(items);
      const isThinking = reasons(family, objectOf(body['reasoning'])['effort']);
      const encoder = responsesEncoder({
        model,
        seed,
        reasoning: isThinking
          ? { id: `rs_${idOf(seed, 40)}`, encrypted: seal({ family: family.name, seed }) }
          : undefined,
        inputTokens: tokens,
        cachedTokens: cache.read(`${model} ${stringOf(body['prompt_cache_key'])}`, prompt, {
          minimum: 1024,
          step: 128,
        }),
        reportsWrites: family.explicitCache,
        keep(made) {
          if (body['store'] === false) return;
          const reasoning = made.find(({ type }) => type === 'reasoning')?.['id'];
          for (const item of made) {
            const isCall = item['type'] === 'function_call' && typeof reasoning === 'string';
            stored.set(stringOf(item['id']), defined({ item, reasoning: isCall ? reasoning : undefined }));
          }
        },
      });
      return { request: requestOf(body, items, call.headers), isStream: body['stream'] === true, encoder };
    },
  };
}

function itemsOf(input: unknown): Json[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objectsIn(input);
}

function requestOf(body: Json, items: readonly Json[], headers: IncomingHttpHeaders): ModelRequest {
  const isSystem = ({ role }: Json) => role === 'system' || role === 'developer';
  const messages = messagesOf(items.filter((item) => !isSystem(item)));
  const system = [
    ...(typeof body['instructions'] === 'string' ? [body['instructions']] : []),
    ...items.filter(isSystem).map(({ content }) => contentText(content)),
  ];
  return {
    ...introduction(stringOf(body['model']), messages, headers),
    system: system.join('\n\n'),
    messages,
    tools: objectsIn(body['tools']).map(({ name, description, parameters }) => toolSpec(name, description, parameters)),
  };
}

/** An answer is one message: its text and the calls that follow. */
function messagesOf(items: readonly Json[]): Message[] {
  const messages: Message[] = [];
  for (const item of items) {
    const last = messages.at(-1);
    if (item['type'] === 'function_call') {
      const call = {
        id: stringOf(item['call_id']),
        name: stringOf(item['name']),
        arguments: { ...parseMapping(stringOf(item['arguments'])) },
      };
      if (last?.role === 'assistant') (last.toolCalls ??= []).push(call);
      else messages.push({ role: 'assistant', content: '', toolCalls: [call] });
    } else if (item['type'] === 'function_call_output') {
      const content = contentText(item['output']);
      messages.push({ role: 'tool', content, toolCallId: stringOf(item['call_id']) });
    } else if ((item['type'] ?? 'message') === 'message') {
      const role = item['role'] === 'assistant' ? 'assistant' : 'user';
      messages.push({ role, content: contentText(item['content']) });
    }
  }
  return messages;
}
