/** OpenAI's chat completions: `POST /v1/chat/completions`. */
import { defined } from '../../../../domain/defined.js';
import { chatEncoder } from '../chat/encode.js';
import { chatRequest } from '../chat/request.js';
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import { promptCache } from '../wire/prompt-cache.js';
import { judge } from '../wire/rule.js';
import { digest, idOf } from '../wire/seal.js';
import type { StandIn, StandInOptions } from '../wire/stand-in.js';
import { tokensOf } from '../wire/tokens.js';
import { checkChat } from './check-chat.js';
import { checkEnvelope, errorBody, failure } from './errors.js';

const CACHE_LIFE_MS = 30 * 60_000;

export function openaiChat({ now }: StandInOptions): StandIn {
  const cache = promptCache({ now, lifeMs: CACHE_LIFE_MS });
  return {
    base: '/v1',
    errorBody,
    failure,
    receive(call) {
      const verdict = judge();
      const family = checkEnvelope(call, '/v1/chat/completions', '5', verdict);
      const { body } = call;
      if (family === undefined || body === undefined) return verdict;
      checkChat(body, family, verdict);
      const prompt = promptOf(body);
      const tokens = tokensOf(prompt);
      if (tokens > family.window)
        verdict.refuse(
          '5.prompt-length',
          `This model's maximum context length is ${family.window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
          { param: 'messages', code: 'context_length_exceeded' },
        );
      if (verdict.refusals.length > 0) return verdict;
      const cached = cache.read(`${stringOf(body['model'])} ${stringOf(body['prompt_cache_key'])}`, prompt, {
        minimum: 1024,
        step: 128,
      });
      const seed = digest(body['messages']);
      const encoder = chatEncoder({
        model: stringOf(body['model']),
        id: `chatcmpl-${idOf(seed, 29)}`,
        callId: (at) => `call_${idOf(`${seed} ${at}`, 24)}`,
        usageIn: objectOf(body['stream_options'])['include_usage'] === true ? 'own-chunk' : 'nowhere',
        usage: ({ outputTokens }) => ({
          prompt_tokens: tokens,
          completion_tokens: outputTokens,
          total_tokens: tokens + outputTokens,
          prompt_tokens_details: defined({
            cached_tokens: cached,
            cache_write_tokens: family.explicitCache ? tokens - cached : undefined,
          }),
          completion_tokens_details: { reasoning_tokens: 0 },
        }),
      });
      return { request: chatRequest(body, call.headers), isStream: body['stream'] === true, encoder };
    },
  };
}

/** The prompt as one text, in the order in which the provider caches it. */
function promptOf(body: Json): string {
  return [...objectsIn(body['tools']), ...objectsIn(body['messages'])].map((part) => JSON.stringify(part)).join('\n');
}
