/** The system clock sets timers that every supported version of Node accepts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock } from '../../src/adapters/clock/index.js';

test('a time that has passed is slept at once, and Node warns of nothing', async (t) => {
  const timers = t.mock.method(globalThis, 'setTimeout');
  await clock().sleep(-0.02);
  assert.equal(timers.mock.calls[0]?.arguments[1], 0);
});

test('a sleep longer than a timer can be does not end at once', async (t) => {
  const timers = t.mock.method(globalThis, 'setTimeout');
  const stop = new AbortController();
  const sleeping = clock().sleep(2 ** 40, stop.signal);
  stop.abort();
  await sleeping;
  assert.equal(timers.mock.calls[0]?.arguments[1], 2 ** 31 - 1);
});
