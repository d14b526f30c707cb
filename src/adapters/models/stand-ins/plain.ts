/**
 * A plain OpenAI-compatible server: it accepts every well-formed request to chat completions. The
 * agent is the header `x-guild-agent`, or else the model's name after the slash (`scripted/planner`
 * → planner).
 */
import { isMapping } from '../../../domain/mapping.js';
import { chatEncoder } from './chat/encode.js';
import { chatRequest } from './chat/request.js';
import { errorBody, failure } from './openai/errors.js';
import { objectOf, stringOf, type Json } from './wire/json.js';
import type { Refusal } from './wire/rule.js';
import type { StandIn } from './wire/stand-in.js';

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const SCRIPTED = { id: 'scripted', object: 'model', created: 0, owned_by: 'guildhall' };

export function plain(): StandIn {
  return {
    base: '/v1',
    errorBody,
    failure,
    get(url) {
      const path = shortPath(url);
      if (path === '') return { status: 200, body: { ok: true } };
      if (path === '/models') return { status: 200, body: { object: 'list', data: [SCRIPTED] } };
      if (path === `/models/${SCRIPTED.id}`) return { status: 200, body: SCRIPTED };
      const message = `there is no ${path}; the only model is ${SCRIPTED.id}`;
      return path === '/chat/completions' ? undefined : { status: 404, body: errorBody({ message }) };
    },
    receive({ path, headers, body = {}, bytes }) {
      const refused = refusalOf(shortPath(path), body, bytes);
      if (refused !== undefined) return { refusals: [{ rule: 'plain', ...refused }] };
      const model = stringOf(body['model']);
      const encoder = chatEncoder({
        model,
        id: 'chatcmpl-1',
        callId: (_, { id }) => id,
        usageIn: objectOf(body['stream_options'])['include_usage'] === true ? 'own-chunk' : 'nowhere',
        usage: ({ inputTokens, outputTokens, cachedTokens }) => ({
          prompt_tokens: inputTokens,
          completion_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
          prompt_tokens_details: { cached_tokens: cachedTokens },
        }),
      });
      const agent = stringOf(headers['x-guild-agent']) || model.slice(model.indexOf('/') + 1);
      return { request: { ...chatRequest(body, headers), agent }, isStream: body['stream'] === true, encoder };
    },
  };
}

/** Paths count with and without /v1, because people omit it from base URLs. */
function shortPath(path: string): string {
  return path.replace(/\/+$/, '').replace(/^\/v1(?=\/|$)/, '');
}

function refusalOf(path: string, body: Json, bytes: number): Omit<Refusal, 'rule'> | undefined {
  if (path !== '/chat/completions') {
    const other = path === '/responses' ? '; for this API use --as openai-responses' : '';
    return { message: `unknown path POST ${path}${other}`, status: 404 };
  }
  if (bytes > MAX_BODY_BYTES) return { message: `a request may have at most ${MAX_BODY_BYTES} bytes`, status: 413 };
  if (typeof body['model'] !== 'string') return { message: 'the body must be a JSON object, and "model" a string' };
  const { messages, tools = [] } = body;
  if (!Array.isArray(messages) || !messages.every((message) => typeof objectOf(message)['role'] === 'string'))
    return { message: '"messages" must be a list of messages' };
  if (!messages.every(({ tool_calls: calls }: Json) => calls == null || isCalls(calls)))
    return { message: '"tool_calls" must be a list of calls with a function that has a name' };
  if (tools !== null && !isCalls(tools)) return { message: '"tools" must be a list of functions with a name' };
  return undefined;
}

function isCalls(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((call) => isMapping(call) && typeof objectOf(call['function'])['name'] === 'string')
  );
}
