import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, durationMs, readBudget } from '../../src/schemas/amounts.js';

test('durations have units; a bare number is seconds', () => {
  const table: [unknown, number | undefined][] = [
    ['60s', 60_000],
    ['10m', 600_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['250ms', 250],
    ['1.5 h', 5_400_000],
    [30, 30_000],
    ['10', undefined],
    ['-1s', undefined],
    [-1, undefined],
    [null, undefined],
    ['10 minutes', undefined],
  ];
  for (const [given, ms] of table) assert.equal(durationMs(given), ms, String(given));
});

test('counts may be short', () => {
  const table: [unknown, number | undefined][] = [
    ['200k', 200_000],
    ['1.5M', 1_500_000],
    [7, 7],
    ['1_000', 1000],
    [1.5, undefined],
    [-1, undefined],
    ['k', undefined],
    ['1.2.3', undefined],
  ];
  for (const [given, number] of table) assert.equal(count(given), number, String(given));
});

test('money is kept in whole micro-dollars', () => {
  assert.deepEqual(readBudget({ usd: 0.1 + 0.2 }), { ok: true, budget: { microUsd: 300_000 } });
  assert.deepEqual(readBudget({ usd: '$1.50' }), { ok: true, budget: { microUsd: 1_500_000 } });
  assert.equal(readBudget({ usd: 'free' }).ok, false);
  assert.equal(readBudget({ usd: -1 }).ok, false);
});

test('a limit that is not understood is never ignored', () => {
  assert.deepEqual(readBudget({ turns: 1, tokens: null }), { ok: true, budget: { turns: 1 } });
  assert.deepEqual(readBudget({ constructor: 1 }).ok, false);
  assert.deepEqual(readBudget({ usd: 'x' }), { ok: false, key: 'usd', known: true, want: 'dollars, such as 1.50' });
});
