/** The error bodies that both of OpenAI's APIs share, and the checks of a request's envelope. */
import type { ModelFailure } from '../../../../ports/model.js';
import { stringOf } from '../wire/json.js';
import type { Judge, Refusal } from '../wire/rule.js';
import { retryAfter, type HttpReply, type WireCall } from '../wire/stand-in.js';
import { familyOf, type Family } from './families.js';

export function errorBody({ message, type = 'invalid_request_error', param, code }: Omit<Refusal, 'rule'>) {
  return { error: { message, type, param: param ?? null, code: code ?? null } };
}

const FAILURES: Partial<Record<ModelFailure['class'], [number, string]>> = {
  auth: [401, 'invalid_api_key'],
  quota: [429, 'insufficient_quota'],
  rate: [429, 'rate_limit_exceeded'],
  context: [400, 'context_length_exceeded'],
  refused: [400, 'content_policy_violation'],
  unknown_model: [404, 'model_not_found'],
  unscripted: [422, 'unscripted'],
  stale_thoughts: [400, 'invalid_encrypted_content'],
};

export function failure({ class: kind, message, retryAfterMs }: ModelFailure): HttpReply {
  const [status, code] = FAILURES[kind] ?? [500, 'server_error'];
  return { status, body: errorBody({ message, type: code, code }), headers: retryAfter(retryAfterMs) };
}

/** Undefined if the request cannot be judged any further. */
export function checkEnvelope(
  { path, headers, body }: WireCall,
  expected: string,
  section: '4' | '5',
  { refuse }: Judge,
): Family | undefined {
  if (!/^Bearer \S/.test(headers.authorization ?? ''))
    refuse(
      '2.key',
      `You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).`,
      { status: 401 },
    );
  if (body === undefined) return refuse(`${section}.json`, 'We could not parse the JSON body of your request.');
  const known = `${section}.model-known`;
  if (path !== expected) return refuse(known, `Invalid URL (POST ${path})`, { status: 404 });
  if (typeof body['model'] !== 'string') return refuse(known, 'you must provide a model parameter', { param: 'model' });
  const family = familyOf(body['model']);
  if (family === undefined)
    refuse(known, `The model '${stringOf(body['model'])}' does not exist or you do not have access to it.`, {
      status: 404,
      code: 'model_not_found',
    });
  return family;
}
