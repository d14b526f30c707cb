/** Models that cannot be used at the moment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INTERVALS } from '../../../src/domain/intervals.js';
import { outages, type Outages } from '../../../src/engine/core/outages.js';
import { simClock } from '../../kit/sim-clock.js';

function begin(): Outages & { reported: string[]; inMs(models: string[]): number | undefined } {
  const clock = simClock();
  const reported: string[] = [];
  const known = outages(clock, ({ message }) => reported.push(message));
  const inMs = (models: string[]): number | undefined => {
    const until = known.until(models);
    return until && until - clock.now().getTime();
  };
  return { ...known, reported, inMs };
}

test('an outage is reported once, has a time for the next try, and ends with the first answer', () => {
  for (const [failure, ms] of [
    ['auth', INTERVALS.refusedModelMs],
    ['quota', INTERVALS.refusedModelMs],
    ['unreachable', INTERVALS.awayModelMs],
  ] as const) {
    const { failed, answered, inMs, reported } = begin();
    for (let n = 0; n < 3; n++) failed(['p/a'], { class: failure, message: failure });
    assert.deepEqual([inMs(['p/a']), inMs(['p/b']), inMs([])], [ms, undefined, undefined]);
    assert.deepEqual(reported, [`${failure}; other tasks that need p/a wait here`]);
    answered('p/a');
    assert.equal(inMs(['p/a']), undefined);
    failed(['p/a'], { class: failure, message: failure });
    assert.equal(reported.length, 2);
  }
});

test('an agent with several models waits only while all of them are out', () => {
  const { failed, answered, inMs } = begin();
  failed(['p/a'], { class: 'auth', message: 'no' });
  assert.equal(inMs(['p/a', 'p/b']), undefined);
  failed(['p/a', 'p/b'], { class: 'unreachable', message: 'no' });
  assert.equal(inMs(['p/a', 'p/b']), INTERVALS.awayModelMs);
  answered('p/b');
  assert.equal(inMs(['p/a', 'p/b']), undefined);
});

test('a failure that may concern one task only is not an outage', () => {
  const { failed, inMs, reported } = begin();
  for (const failure of ['rate', 'cut_off', 'garbage', 'context', 'refused', 'unknown_model', 'aborted'] as const)
    failed(['p/a'], { class: failure, message: 'no' });
  assert.deepEqual([inMs(['p/a']), reported], [undefined, []]);
});
