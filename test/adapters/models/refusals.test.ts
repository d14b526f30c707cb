/** Models whose provider refuses every call until a person acts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusals } from '../../../src/adapters/models/refusals.js';
import { INTERVALS } from '../../../src/domain/intervals.js';
import type { ModelFailureClass, ModelReply, ModelRequest } from '../../../src/ports/model.js';
import { simClock } from '../../kit/sim-clock.js';

const ANSWER = {
  ok: true,
  answer: { text: 'ok', toolCalls: [], finish: 'stop', inputTokens: 1, outputTokens: 1, cachedTokens: 0, microUsd: 0 },
} as const satisfies ModelReply;

/** Calls with the model `name`, and what was reported about it. */
function calls() {
  const clock = simClock();
  const reported: string[] = [];
  let next: ModelReply = ANSWER;
  const { model, refusedUntil } = refusals({ call: async () => next }, clock, ({ message }) => reported.push(message));
  const call = (name: string, failure?: ModelFailureClass): Promise<ModelReply> => {
    next = failure === undefined ? ANSWER : { ok: false, failure: { class: failure, message: `${failure} it is` } };
    return model.call({ model: name } as ModelRequest);
  };
  const isRefused = (...names: string[]): boolean => refusedUntil(() => names) !== undefined;
  return { clock, reported, call, isRefused };
}

test('a wrong key or a used-up quota holds the model, is reported once, and ends after a time or an answer', async () => {
  for (const failure of ['auth', 'quota'] as const) {
    const { clock, reported, call, isRefused } = calls();
    await call('p/a', failure);
    await call('p/a', failure);
    assert.deepEqual(reported, [`${failure} it is; other tasks that need p/a wait here`]);
    assert.deepEqual([isRefused('p/a'), isRefused('p/b'), isRefused()], [true, false, false]);
    await clock.advance(INTERVALS.refusedModelMs);
    assert.ok(!isRefused('p/a'));
    await call('p/a', failure);
    assert.equal(reported.length, 2);
    await call('p/a');
    assert.ok(!isRefused('p/a'));
  }
});

test('an agent is held only if all of its models are refused', async () => {
  const { call, isRefused } = calls();
  await call('p/a', 'auth');
  assert.ok(!isRefused('p/a', 'p/b'));
  await call('p/b', 'quota');
  assert.ok(isRefused('p/a', 'p/b'));
});

test('a failure that may pass, or that concerns one task, holds nothing', async () => {
  const { reported, call, isRefused } = calls();
  for (const failure of ['rate', 'unreachable', 'cut_off', 'garbage', 'context', 'refused', 'unknown_model'] as const)
    await call('p/a', failure);
  assert.deepEqual([isRefused('p/a'), reported], [false, []]);
});
