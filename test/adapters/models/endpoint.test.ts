/** Addresses and keys, from guild.yaml and from the variables that other tools use too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointOf, speaksResponses } from '../../../src/adapters/models/ai-sdk/endpoint.js';
import type { Provider } from '../../../src/domain/config/config.js';

const CASES: [what: string, provider: Provider, env: Record<string, string>, expected: object][] = [
  [
    'an address as Claude Code writes it gets its version',
    { kind: 'anthropic' },
    { ANTHROPIC_BASE_URL: 'https://gate.example/claude/' },
    { baseUrl: 'https://gate.example/claude/v1' },
  ],
  [
    'an address with a version stays',
    { kind: 'anthropic' },
    { ANTHROPIC_BASE_URL: 'https://gate.example/v1' },
    { baseUrl: 'https://gate.example/v1' },
  ],
  [
    'an address in guild.yaml stays as it is',
    { kind: 'anthropic', baseUrl: 'https://gate.example/own' },
    {},
    { baseUrl: 'https://gate.example/own' },
  ],
  [
    "the variable of Google's own tools works too",
    { kind: 'google' },
    { GOOGLE_GEMINI_BASE_URL: 'https://gate.example' },
    { baseUrl: 'https://gate.example/v1beta' },
  ],
  [
    'a token is used if there is no key',
    { kind: 'anthropic', keyEnv: 'ANTHROPIC_API_KEY' },
    { ANTHROPIC_AUTH_TOKEN: 't' },
    { key: 't', isBearer: true },
  ],
  [
    'a key wins over a token',
    { kind: 'anthropic' },
    { ANTHROPIC_AUTH_TOKEN: 't', ANTHROPIC_API_KEY: 'k' },
    { key: 'k', isBearer: false },
  ],
  ['a token of Anthropic goes nowhere else', { kind: 'openai' }, { ANTHROPIC_AUTH_TOKEN: 't' }, { key: undefined }],
  [
    'nor to a provider with a key of its own',
    { kind: 'anthropic', keyEnv: 'HOUSE_KEY', baseUrl: 'https://house.example/v1' },
    { ANTHROPIC_AUTH_TOKEN: 't' },
    { key: undefined },
  ],
];

for (const [what, provider, env, expected] of CASES)
  test(what, () => {
    const endpoint = endpointOf(provider, env);
    for (const [name, value] of Object.entries(expected))
      assert.equal(endpoint[name as keyof typeof endpoint], value, name);
  });

test('only OpenAI itself and servers that say so have the Responses API', () => {
  const speaks = (provider: Provider) => speaksResponses(provider, endpointOf(provider, {}));
  assert.equal(speaks({ kind: 'openai' }), true);
  assert.equal(speaks({ kind: 'openai', baseUrl: 'https://x.example/v1' }), false);
  assert.equal(speaks({ kind: 'openai', baseUrl: 'https://x.example/v1', api: 'responses' }), true);
  assert.equal(speaks({ kind: 'openai-compatible', baseUrl: 'https://x.example/v1', api: 'responses' }), false);
});
