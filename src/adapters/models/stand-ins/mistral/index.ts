/** Mistral's chat completions: `POST /v1/chat/completions`. */
import type { ModelFailure } from '../../../../ports/model.js';
import { chatEncoder } from '../chat/encode.js';
import { chatRequest } from '../chat/request.js';
import { objectsIn, stringOf, type Json } from '../wire/json.js';
import { promptCache } from '../wire/prompt-cache.js';
import { judge, type Judge, type Refusal } from '../wire/rule.js';
import { digest, idOf } from '../wire/seal.js';
import { retryAfter, type HttpReply, type StandIn, type StandInOptions, type WireCall } from '../wire/stand-in.js';
import { tokensOf } from '../wire/tokens.js';
import { checkMistral } from './check.js';

const CACHE_LIFE_MS = 30 * 60_000;

export function mistral({ now }: StandInOptions): StandIn {
  const cache = promptCache({ now, lifeMs: CACHE_LIFE_MS });
  return {
    base: '/v1',
    errorBody,
    failure,
    receive(call) {
      const verdict = judge();
      const window = checkEnvelope(call, verdict);
      const { body } = call;
      if (window === undefined || body === undefined) return verdict;
      checkMistral(body, verdict);
      const prompt = JSON.stringify([body['tools'] ?? [], ...objectsIn(body['messages'])]);
      const tokens = tokensOf(prompt);
      if (tokens > window)
        verdict.refuse(
          '7.prompt-length',
          `Prompt contains ${tokens} tokens and 0 draft tokens, too large for model with ${window} maximum context length`,
          { type: 'invalid_request_prompt', code: '3051' },
        );
      if (verdict.refusals.length > 0) return verdict;
      const seed = digest(body['messages']);
      const key = stringOf(body['prompt_cache_key']);
      const cached = key === '' ? 0 : cache.read(key, prompt, { minimum: 64, step: 64 });
      const encoder = chatEncoder({
        model: stringOf(body['model']),
        id: idOf(seed, 32),
        callId: (at) => idOf(`${seed} ${at}`, 9),
        wholeCalls: true,
        usageIn: 'finish',
        thoughts: thinks(body) ? { content: [thought()] } : undefined,
        usage: ({ outputTokens }) => ({
          prompt_tokens: tokens,
          completion_tokens: outputTokens,
          total_tokens: tokens + outputTokens,
          prompt_tokens_details: { cached_tokens: cached },
        }),
      });
      return { request: chatRequest(body, call.headers), isStream: body['stream'] === true, encoder };
    },
  };
}

const WINDOWS: readonly [RegExp, number][] = [
  [/^mistral-large/, 1_000_000],
  [/^mistral-medium/, 256_000],
  [/^(mistral|ministral|magistral|codestral|devstral|pixtral|open-mi[sx]tral)/, 128_000],
];

/** The context window; undefined if the request cannot be judged any further. */
function checkEnvelope({ path, headers, body }: WireCall, { refuse }: Judge): number | undefined {
  if (!/^Bearer \S/.test(headers.authorization ?? '')) refuse('2.key', 'Unauthorized', { status: 401 });
  if (body === undefined)
    return refuse('7.json', 'JSON decode error', {
      status: 422,
      details: [{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error' }],
    });
  const model = stringOf(body['model']);
  const window = path === '/v1/chat/completions' ? WINDOWS.find(([name]) => name.test(model))?.[1] : undefined;
  if (window === undefined) refuse('7.model-known', `Invalid model: ${model}`, { type: 'invalid_model', code: '1500' });
  return window;
}

function thinks(body: Json): boolean {
  const effort = body['reasoning_effort'];
  return typeof effort === 'string' && effort !== 'none';
}

function thought() {
  return { type: 'thinking', thinking: [{ type: 'text', text: 'Weighing what to do.' }] };
}

function errorBody({ message, status, type, code, details }: Omit<Refusal, 'rule'>): unknown {
  if (status === 401) return { detail: message };
  return {
    object: 'error',
    message: details ? { detail: details } : message,
    type: type ?? 'invalid_request_error',
    param: null,
    code: code ?? null,
  };
}

const FAILURES: Partial<Record<ModelFailure['class'], [number, string, string?]>> = {
  auth: [401, 'unauthorized'],
  quota: [402, 'insufficient_quota'],
  rate: [429, 'rate_limited', '1300'],
  context: [400, 'invalid_request_prompt', '3051'],
  refused: [403, 'content_policy_violation'],
  unknown_model: [400, 'invalid_model', '1500'],
  unscripted: [422, 'unscripted'],
};

function failure({ class: kind, message, retryAfterMs }: ModelFailure): HttpReply {
  const [status, type, code] = FAILURES[kind] ?? [503, 'service_unavailable'];
  const text =
    kind === 'rate' ? 'Rate limit exceeded' : kind === 'context' ? `${message}: too large for model` : message;
  return { status, body: errorBody({ status, message: text, type, code }), headers: retryAfter(retryAfterMs) };
}
