/** Anthropic's Messages API: `POST /v1/messages`. */
import type { ModelFailure } from '../../../../ports/model.js';
import { numberOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import { judge, type Judge, type Refusal } from '../wire/rule.js';
import { digest } from '../wire/seal.js';
import { dotted, unknownFields } from '../wire/shape.js';
import { retryAfter, type HttpReply, type StandIn, type StandInOptions, type WireCall } from '../wire/stand-in.js';
import { anthropicCache, checkMarks } from './cache.js';
import { anthropicEncoder } from './encode.js';
import { familyOf, type Family } from './families.js';
import { checkMessages } from './messages.js';
import { requestOf } from './request.js';
import { checkSettings, thinks } from './settings.js';
import { REQUEST } from './shape.js';
import { checkThoughts } from './thoughts.js';
import { turnsOf } from './turns.js';

const MAX_BYTES = 32 * 1024 * 1024;
/** Thoughts of every third answer are partly redacted. */
const REDACTED_EVERY = 3;

export function anthropic({ now }: StandInOptions): StandIn {
  const cache = anthropicCache(now);
  return {
    base: '/v1',
    errorBody,
    failure,
    receive(call) {
      const verdict = judge();
      const { body } = call;
      const family = checkEnvelope(call, verdict);
      if (family === undefined || body === undefined) return { refusals: verdict.refusals };
      const turns = turnsOf(body);
      checkFields(body, verdict);
      checkMessages(body, turns, family, verdict);
      checkSettings(body, turns, family, stringOf(call.headers['anthropic-beta']), verdict);
      checkMarks(body, turns, verdict);
      const thoughts = checkThoughts(body, turns, family, verdict);
      if (verdict.refusals.length > 0) return { refusals: verdict.refusals };
      const usage = cache(body, turns, family);
      const total = usage.fresh + usage.read + usage.written5m + usage.written1h;
      if (total > family.window) {
        verdict.refuse('3.prompt-length', `prompt is too long: ${total} tokens > ${family.window} maximum`);
        return { refusals: verdict.refusals };
      }
      const request = requestOf(body, turns, call.headers);
      const isShown = displays(body, family);
      const made = thinks(body, family)
        ? thoughts.next({ isShown, isRedacted: request.turn % REDACTED_EVERY === 0 })
        : [];
      const seed = digest(body['messages']);
      const encoder = anthropicEncoder({ model: stringOf(body['model']), seed, thoughts: made, usage });
      return { request, isStream: body['stream'] === true, encoder };
    },
  };
}

/** Undefined if the request cannot be judged any further. */
function checkEnvelope({ path, headers, body, bytes }: WireCall, { refuse }: Judge): Family | undefined {
  if (!headers['x-api-key'] && !headers.authorization)
    refuse('2.key', 'x-api-key header is required', { status: 401, type: 'authentication_error' });
  if (headers['anthropic-version'] === undefined) refuse('2.version', 'anthropic-version: header is required');
  if (bytes > MAX_BYTES)
    refuse('3.size', 'Request exceeds the maximum size', { status: 413, type: 'request_too_large' });
  if (body === undefined) return refuse('3.json', 'The request body is not valid JSON');
  const model = stringOf(body['model']);
  const family = path === '/v1/messages' ? familyOf(model) : undefined;
  if (family === undefined)
    refuse('3.model-known', path === '/v1/messages' ? `model: ${model}` : 'Not Found', {
      status: 404,
      type: 'not_found_error',
    });
  return family;
}

function checkFields(body: Json, { refuse }: Judge): void {
  for (const path of unknownFields(body, REQUEST)) {
    const message = objectsIn(body['messages'])[numberOf(path[1]) ?? -1];
    const block = path[2] === 'content' ? objectsIn(message?.['content'])[numberOf(path[3]) ?? -1] : undefined;
    const isThought = /thinking$/.test(stringOf(block?.['type']));
    // Another rule covers the mark on a thought.
    if (isThought && path[4] === 'cache_control') continue;
    refuse('3-request.unknown-field', `${dotted(path)}: Extra inputs are not permitted`);
  }
}

/** Newer models leave out the text of thoughts unless asked. */
function displays(body: Json, family: Family): boolean {
  const display = (body['thinking'] as Json | undefined)?.['display'];
  return display === undefined ? !family.bound : display !== 'omitted';
}

function errorBody({ type = 'invalid_request_error', message }: Omit<Refusal, 'rule'>) {
  return { type: 'error', error: { type, message }, request_id: 'req_standin' };
}

const FAILURES: Partial<Record<ModelFailure['class'], [number, string]>> = {
  auth: [401, 'authentication_error'],
  quota: [400, 'invalid_request_error'],
  rate: [429, 'rate_limit_error'],
  context: [400, 'invalid_request_error'],
  refused: [403, 'permission_error'],
  unknown_model: [404, 'not_found_error'],
  unscripted: [422, 'unscripted'],
  stale_thoughts: [400, 'invalid_request_error'],
};

function failure({ class: kind, message, retryAfterMs }: ModelFailure): HttpReply {
  const [status, type] = FAILURES[kind] ?? [529, 'overloaded_error'];
  const intros: Partial<Record<ModelFailure['class'], string>> = {
    quota: 'Your credit balance is too low: ',
    context: 'prompt is too long: ',
    stale_thoughts: 'messages.1.content.0: Invalid `signature` in `thinking` block. ',
  };
  const text = `${intros[kind] ?? ''}${message}`;
  return { status, body: errorBody({ type, message: text }), headers: retryAfter(retryAfterMs) };
}
