import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { listPrices } from '../../../src/domain/budget/list-prices.js';
import { priceOf } from '../../../src/domain/config/prices.js';
import { costMicroUsd, findPrice } from '../../../src/domain/budget/price.js';

const tokens = (inputTokens: number, outputTokens: number, cachedTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedTokens,
});

test('dollars per million tokens are micro-dollars per token', () => {
  const price = { input: 1.25, output: 10, cached: 0.125 };
  assert.equal(costMicroUsd(price, tokens(1_000_000, 1_000_000)), 11_250_000);
  assert.equal(costMicroUsd(price, tokens(1000, 0, 800)), 350);
  assert.equal(costMicroUsd({ input: 3, output: 15 }, tokens(1000, 0, 800)), 3000);
});

test('halves are rounded up, and smaller fractions down', () => {
  assert.equal(costMicroUsd({ input: 0.5, output: 0 }, tokens(1, 0)), 1);
  assert.equal(costMicroUsd({ input: 0.1, output: 0 }, tokens(4, 0)), 0);
  assert.equal(costMicroUsd({ input: 0.1, output: 0 }, tokens(3, 0)), 0);
  assert.equal(costMicroUsd({ input: 0.1, output: 0.2 }, tokens(1, 2)), 1);
});

test('the price is exact to half a micro-dollar at any size', () => {
  const cents = fc.integer({ min: 0, max: 100_000 });
  const many = fc.integer({ min: 0, max: 1_000_000_000 });
  fc.assert(
    fc.property(cents, cents, many, many, (input, output, asked, said) => {
      const exact = BigInt(asked) * BigInt(input) + BigInt(said) * BigInt(output);
      const cost = costMicroUsd({ input: input / 100, output: output / 100 }, tokens(asked, said));
      const off = BigInt(cost) * 100n - exact;
      assert.ok(off <= 50n && off > -50n);
    }),
  );
});

test('a dated name has the price of its model, and the first table wins', () => {
  const list = { 'openai/gpt-5': { input: 1, output: 2 } };
  assert.deepEqual(findPrice('openai/gpt-5-2025-08-07', {}, list), list['openai/gpt-5']);
  assert.deepEqual(findPrice('openai/gpt-5', { 'gpt-5': { input: 9, output: 9 } }, list), { input: 9, output: 9 });
  assert.equal(findPrice('openai/gpt-5-mini', {}, list), undefined);
  assert.equal(findPrice('openai/toString', {}, list), undefined);
});

test('input that is written to the cache has its own price', () => {
  const price = { input: 4, cached: 0.2, write: 5, output: 20 };
  const counted = { ...tokens(1000, 0, 500), writtenTokens: 300 };
  assert.equal(costMicroUsd(price, counted), 200 * 4 + 500 * 0.2 + 300 * 5);
  assert.equal(costMicroUsd({ input: 4, output: 20 }, counted), 4000);
});

test('a long request has the prices for long requests, as a whole', () => {
  const price = { input: 1, output: 2, above: { tokens: 100, input: 10, output: 20 } };
  assert.equal(costMicroUsd(price, tokens(100, 1)), 102);
  assert.equal(costMicroUsd(price, tokens(101, 1)), 1030);
});

test('a price that changes on a day counts from that day on', () => {
  const argon = (day: string) => listPrices(new Date(`${day}T12:00:00Z`))['google/gemini-4-argon']!.input;
  assert.deepEqual([argon('2026-11-30'), argon('2026-12-01')], [2, 4]);
});

test('only a model on this machine or in a script is free, and an unknown one has no price', () => {
  const day = new Date('2026-11-17T00:00:00Z');
  const providers = { near: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } } as const;
  const price = (model: string, env = {}) => priceOf(model, { providers, prices: {} }, env, day)?.input;
  assert.deepEqual(
    ['near/a', 'ollama/b', 'scripted/script'].map((model) => price(model)),
    [0, 0, 0],
  );
  assert.equal(price('openai/gpt-6-sol'), 2);
  assert.equal(price('openai/gpt-6-sol', { OPENAI_BASE_URL: 'http://localhost:8123/v1' }), 2, 'it may be a gateway');
  assert.equal(price('openai/my-model', { OPENAI_BASE_URL: 'http://localhost:8123/v1' }), 0);
  assert.equal(price('openai/gpt-99'), undefined);
});
