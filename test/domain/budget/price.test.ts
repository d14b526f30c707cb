import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
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
