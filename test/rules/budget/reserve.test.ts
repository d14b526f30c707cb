/** The cost of a model call is limited before it is made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { costMicroUsd } from '../../../src/domain/budget/price.js';
import type { Message } from '../../../src/domain/session/session.js';
import { promptTokens, reserveCall } from '../../../src/rules/budget/reserve.js';

const head = (): number => 2;

test('without a budget of tokens or money an answer is not limited', () => {
  assert.deepEqual(reserveCall({ turns: 3 }, 100_000, { isLast: false }), { ok: true });
});

test('an allowed turn and the last answer after it stay within tokens and money', () => {
  const whole = fc.integer({ min: 0, max: 300_000 });
  const dollars = fc.integer({ min: 0, max: 80 });
  fc.assert(
    fc.property(
      whole,
      whole,
      whole,
      dollars,
      dollars,
      fc.option(fc.integer({ min: 1, max: 20_000 })),
      (t, m, p, i, o, max) => {
        const price = { input: i, output: o };
        const left = { tokens: t, microUsd: m };
        const turn = reserveCall(left, p, { price, isLast: false, ...(max === null ? {} : { maxTokens: max }) });
        if (!turn.ok) return;
        const spent = { inputTokens: p, outputTokens: turn.maxTokens!, cachedTokens: 0 };
        const after = { tokens: t - p - turn.maxTokens!, microUsd: m - costMicroUsd(price, spent) };
        const prompt = p + turn.maxTokens!;
        const last = reserveCall(after, prompt, { price, isLast: true });
        assert.ok(last.ok, 'a last answer fits');
        assert.ok(prompt + last.maxTokens! <= after.tokens, 'tokens');
        const cost = costMicroUsd(price, { inputTokens: prompt, outputTokens: last.maxTokens!, cachedTokens: 0 });
        assert.ok(cost <= after.microUsd, 'money');
      },
    ),
    { numRuns: 2000 },
  );
});

test('a refusal names the limit that is exceeded', () => {
  const price = { input: 1, output: 1 };
  assert.deepEqual(reserveCall({ tokens: 100 }, 90, { isLast: true }), { ok: false, over: 'tokens' });
  assert.deepEqual(reserveCall({ microUsd: 100 }, 90, { isLast: true, price }), { ok: false, over: 'microUsd' });
});

test('only messages after the last answer are estimated', () => {
  const talk: Message[] = [
    { role: 'user', content: 'x'.repeat(40_000) },
    { role: 'assistant', content: 'y', usage: { inputTokens: 500, outputTokens: 20 } },
    { role: 'user', content: 'z'.repeat(400) },
  ];
  assert.equal(promptTokens(head, talk), 500 + 20 + 104);
  assert.ok(promptTokens(head, talk.slice(0, 1)) >= 10_000);
});

test('every character of another script counts as a token', () => {
  assert.ok(promptTokens(head, [{ role: 'user', content: '日本語'.repeat(100) }]) >= 300);
});
