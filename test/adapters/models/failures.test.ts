/** Errors of providers get the class that leads to the right next step, and keep their words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf } from '../../../src/adapters/models/ai-sdk/failures.js';

const INFO = { provider: 'p', model: 'm', agent: 'ana', address: 'there', keyEnv: 'P_KEY', now: new Date(0) };

const CASES: [what: string, status: number, body: unknown, kind: string, says: RegExp][] = [
  [
    'Mistral names the field it does not know',
    422,
    {
      object: 'error',
      message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'top_k'], msg: 'Extra inputs are not permitted' }] },
    },
    'refused',
    /body\.top_k: Extra inputs are not permitted/,
  ],
  [
    'a refused setting is named with where to change it',
    400,
    { error: { message: "Unsupported value: 'reasoning_effort' does not support 'x' with this model." } },
    'refused',
    /'reasoning_effort' does not support 'x' with this model\.; remove or change reasoning in the file of agent ana/,
  ],
  [
    'stale thoughts have a class of their own',
    400,
    { type: 'error', error: { message: 'messages.1.content.0: Invalid `signature` in `thinking` block' } },
    'stale_thoughts',
    /Invalid `signature`/,
  ],
  [
    'Mistral had the details at the top',
    422,
    { detail: [{ loc: ['body', 'n'], msg: 'Field required' }] },
    'refused',
    /body\.n: Field required/,
  ],
  ['Mistral names a wrong key', 401, { detail: 'Unauthorized' }, 'auth', /Unauthorized; check P_KEY/],
  [
    'Mistral has no such model',
    400,
    { object: 'error', message: 'Invalid model: x', type: 'invalid_model' },
    'unknown_model',
    /Invalid model/,
  ],
  [
    'Mistral: too long',
    400,
    { message: 'Prompt contains 9 tokens and 0 draft tokens, too large for model with 5 maximum context length' },
    'context',
    /too large/,
  ],
  [
    'DeepSeek has no such model',
    400,
    { error: { message: 'Model Not Exist', type: 'invalid_request_error' } },
    'unknown_model',
    /Model Not Exist/,
  ],
  [
    'Google rejects a key with 400',
    400,
    { error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } },
    'auth',
    /check P_KEY/,
  ],
  [
    'Groq cannot read its own call',
    400,
    { error: { message: 'Failed to call a function.', code: 'tool_use_failed', failed_generation: '<x>' } },
    'garbage',
    /could not read the call/,
  ],
  [
    'Ollama cannot call tools',
    400,
    { error: { message: '"m" does not support tools' } },
    'refused',
    /does not support tools; choose another model/,
  ],
  [
    'LM Studio: too long',
    400,
    { error: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
    'context',
    /greater than the context length/,
  ],
  [
    'xAI: too long',
    400,
    { code: 'x', error: "This model's maximum prompt length is 5 but the request contains 9 tokens" },
    'context',
    /maximum prompt length/,
  ],
];

for (const [what, statusCode, body, kind, says] of CASES)
  test(what, () => {
    const thrown = {
      name: 'APICallError',
      message: `status ${statusCode}`,
      statusCode,
      responseBody: JSON.stringify(body),
    };
    const failure = failureOf(thrown, INFO);
    assert.equal(failure.class, kind, failure.message);
    assert.match(failure.message, says);
  });
