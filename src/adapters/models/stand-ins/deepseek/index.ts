/** DeepSeek's chat completions: `POST /chat/completions`, also below `/v1`. */
import type { ModelFailure } from '../../../../ports/model.js';
import { chatEncoder } from '../chat/encode.js';
import { chatRequest } from '../chat/request.js';
import { callGroups } from '../chat/results.js';
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import { promptCache } from '../wire/prompt-cache.js';
import { judge, type Judge, type Refusal } from '../wire/rule.js';
import { digest, idOf } from '../wire/seal.js';
import { retryAfter, type HttpReply, type StandIn, type StandInOptions, type WireCall } from '../wire/stand-in.js';
import { tokensOf } from '../wire/tokens.js';

const WINDOW = 1_000_000;
const CACHE_LIFE_MS = 60 * 60_000;

export function deepseek({ now }: StandInOptions): StandIn {
  const cache = promptCache({ now, lifeMs: CACHE_LIFE_MS });
  return {
    base: '',
    errorBody,
    failure,
    receive(call) {
      const verdict = judge();
      const { body } = call;
      if (!checkEnvelope(call, verdict) || body === undefined) return verdict;
      const isThinking = objectOf(body['thinking'])['type'] !== 'disabled';
      checkMessages(objectsIn(body['messages']), isThinking, verdict);
      checkSettings(body, isThinking, verdict);
      const prompt = JSON.stringify([body['tools'] ?? [], ...objectsIn(body['messages'])]);
      const tokens = tokensOf(prompt);
      if (tokens > WINDOW)
        verdict.refuse(
          '8.prompt-length',
          `This model's maximum context length is ${WINDOW} tokens. However, you requested ${tokens} tokens. Please reduce the length of the messages or completion.`,
        );
      if (verdict.refusals.length > 0) return verdict;
      const hit = cache.read(stringOf(body['model']), prompt, { minimum: 64, step: 64 });
      const seed = digest(body['messages']);
      const encoder = chatEncoder({
        model: stringOf(body['model']),
        id: idOf(seed, 32),
        callId: (at) => `call_${at}_${idOf(`${seed} ${at}`, 20)}`,
        usageIn: 'finish',
        comment: ': keep-alive\n\n',
        thoughts: isThinking ? { reasoning_content: 'Weighing what to do.' } : undefined,
        usage: ({ outputTokens }) => ({
          prompt_tokens: tokens,
          completion_tokens: outputTokens,
          total_tokens: tokens + outputTokens,
          prompt_cache_hit_tokens: hit,
          prompt_cache_miss_tokens: tokens - hit,
        }),
      });
      return { request: chatRequest(body, call.headers), isStream: body['stream'] === true, encoder };
    },
  };
}

function checkEnvelope({ path, headers, body }: WireCall, { refuse }: Judge): boolean {
  if (!/^Bearer \S/.test(headers.authorization ?? ''))
    refuse('2.key', 'Authentication Fails (auth header format should be Bearer sk-...)', {
      status: 401,
      type: 'authentication_error',
    });
  if (body === undefined) return (refuse('8.json', 'Failed to parse the request body as JSON'), false);
  const model = stringOf(body['model']);
  const isKnown = /^deepseek-/.test(model) && !/^deepseek-(chat|reasoner)$/.test(model);
  const isHere = /^(\/v1)?\/chat\/completions$/.test(path);
  if (!isHere || !isKnown)
    refuse('8.model-known', isHere ? 'Model Not Exist' : 'Not Found', isHere ? {} : { status: 404 });
  return isHere && isKnown;
}

function checkMessages(messages: readonly Json[], isThinking: boolean, { refuse }: Judge): void {
  const { groups, orphans } = callGroups(messages);
  for (const { at, ids, results } of groups) {
    if (results.length < ids.length)
      refuse(
        '8.results-follow-calls',
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)`,
      );
    if (isThinking && typeof messages[at]!['reasoning_content'] !== 'string')
      refuse('8.reasoning-content', 'The reasoning_content in the thinking mode must be passed back to the API.');
  }
  for (const { at } of orphans)
    refuse(
      '8.call-before-result',
      `Messages with role 'tool' must be a response to a preceding message with 'tool_calls' (messages[${at}])`,
    );
}

function checkSettings(body: Json, isThinking: boolean, { refuse }: Judge): void {
  const choice = body['tool_choice'];
  if (isThinking && choice !== undefined && choice !== 'auto' && choice !== 'none')
    refuse('8.forced-tool', 'This model does not support this tool_choice in thinking mode');
  const isJsonMode = objectOf(body['response_format'])['type'] === 'json_object';
  if (isJsonMode && !/json/i.test(JSON.stringify(body['messages'] ?? [])))
    refuse(
      '8.json-word',
      `Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.`,
    );
}

function errorBody({ message, type = 'invalid_request_error', code }: Omit<Refusal, 'rule'>) {
  return { error: { message, type, param: null, code: code ?? 'invalid_request_error' } };
}

const FAILURES: Partial<Record<ModelFailure['class'], [number, string]>> = {
  auth: [401, 'authentication_error'],
  quota: [402, 'insufficient_balance'],
  rate: [429, 'rate_limit_reached'],
  context: [400, 'context_length_exceeded'],
  refused: [400, 'content_filter'],
  unknown_model: [400, 'invalid_request_error'],
  unscripted: [422, 'unscripted'],
  stale_thoughts: [400, 'invalid_request_error'],
};

function failure({ class: kind, message, retryAfterMs }: ModelFailure): HttpReply {
  const [status, type] = FAILURES[kind] ?? [503, 'server_overloaded'];
  const texts: Partial<Record<ModelFailure['class'], string>> = {
    quota: 'Insufficient Balance',
    unknown_model: 'Model Not Exist',
    stale_thoughts: 'The reasoning_content in the thinking mode must be passed back to the API.',
  };
  return {
    status,
    body: errorBody({ message: texts[kind] ?? message, type, code: type }),
    headers: retryAfter(retryAfterMs),
  };
}
