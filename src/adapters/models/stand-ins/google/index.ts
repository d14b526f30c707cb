/** Google's API: `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`. */
import { defined } from '../../../../domain/defined.js';
import type { ModelFailure } from '../../../../ports/model.js';
import { objectOf, objectsIn, type Json } from '../wire/json.js';
import { promptCache } from '../wire/prompt-cache.js';
import { judge, type Judge, type Refusal } from '../wire/rule.js';
import { digest } from '../wire/seal.js';
import type { HttpReply, StandIn, StandInOptions, WireCall } from '../wire/stand-in.js';
import { tokensOf } from '../wire/tokens.js';
import { checkRequest } from './check.js';
import { googleEncoder } from './encode.js';
import { familyOf, type Family } from './families.js';
import { checkFunctions } from './functions.js';
import { camelCased, requestOf } from './request.js';
import { checkSignatures } from './signatures.js';

const MAX_BYTES = 20 * 1024 * 1024;
const CACHE_LIFE_MS = 60 * 60_000;
const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

export function google({ now }: StandInOptions): StandIn {
  const cache = promptCache({ now, lifeMs: CACHE_LIFE_MS });
  return {
    base: '/v1beta',
    errorBody,
    failure,
    receive(call) {
      const verdict = judge();
      const [, model = '', method] = PATH.exec(call.path) ?? [];
      const family = checkEnvelope(call, model, verdict);
      if (family === undefined || call.body === undefined) return verdict;
      const body = objectOf(camelCased(call.body));
      checkRequest(body, family, verdict);
      checkFunctions(body, verdict);
      checkSignatures(model, body, family, verdict);
      const prompt = promptOf(body);
      const tokens = tokensOf(prompt);
      if (tokens > family.window)
        verdict.refuse(
          '6.prompt-length',
          `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${family.window}).`,
        );
      if (verdict.refusals.length > 0) return verdict;
      const { includeThoughts } = objectOf(objectOf(body['generationConfig'])['thinkingConfig']);
      const encoder = googleEncoder({
        ...family,
        model,
        seed: digest(body['contents']),
        showsThoughts: includeThoughts === true,
        promptTokens: tokens,
        cachedTokens: cache.read(model, prompt, { minimum: family.cacheMinimum, step: 1 }),
      });
      return { request: requestOf(model, body, call.headers), isStream: method === 'streamGenerateContent', encoder };
    },
  };
}

/** Undefined if the request cannot be judged any further. */
function checkEnvelope(
  { path, query, headers, body, bytes }: WireCall,
  model: string,
  { refuse }: Judge,
): Family | undefined {
  if (!headers['x-goog-api-key'] && !query.get('key') && !headers.authorization)
    refuse('2.key', 'API key not valid. Please pass a valid API key.', {
      details: [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
      ],
    });
  if (bytes > MAX_BYTES) refuse('6.size', `Request payload size exceeds the limit: ${MAX_BYTES} bytes.`);
  if (body === undefined) return refuse('6.json', 'Invalid JSON payload received. Unexpected token.');
  const family = familyOf(model);
  if (family === undefined)
    refuse(
      '6.model-known',
      `models/${model || path} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
      { status: 404 },
    );
  return family;
}

function promptOf(body: Json): string {
  const { tools, systemInstruction } = body;
  return [tools ?? null, systemInstruction ?? null, ...objectsIn(body['contents'])]
    .map((part) => JSON.stringify(part))
    .join('\n');
}

const STATUSES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function errorBody({ message, status = 400, details }: Omit<Refusal, 'rule'>) {
  return { error: defined({ code: status, message, status: STATUSES[status] ?? 'UNKNOWN', details }) };
}

function failure({ class: kind, message, retryAfterMs }: ModelFailure): HttpReply {
  const statuses: Partial<Record<ModelFailure['class'], number>> = {
    auth: 403,
    quota: 429,
    rate: 429,
    context: 400,
    refused: 400,
    unknown_model: 404,
    unscripted: 422,
    stale_thoughts: 400,
  };
  const status = statuses[kind] ?? 503;
  const wait = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${(retryAfterMs ?? 0) / 1000}s` };
  const texts: Partial<Record<ModelFailure['class'], string>> = {
    context: 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).',
    stale_thoughts: 'Thought signature is not valid.',
    quota: 'You exceeded your current quota, please check your plan and billing details.',
  };
  const details = retryAfterMs === undefined ? {} : { details: [wait] };
  return { status, body: errorBody({ status, message: texts[kind] ?? message, ...details }) };
}
