/** Waiting for a ring or for a time, on a clock that the test owns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alarm } from '../../../src/adapters/clock/alarm.js';
import { simClock } from '../../kit/sim-clock.js';

test('a ring ends the wait that is on, and one that came before ends the next', async () => {
  const bell = alarm(simClock());
  const waiting = bell.wait(1000);
  bell.ring();
  assert.equal(await waiting, true);
  bell.ring();
  assert.equal(bell.isRung(), true);
  assert.equal(await bell.wait(1000), true);
  assert.equal(bell.isRung(), false);
});

test('without a ring the time passes, all of it', async () => {
  const clock = simClock();
  const bell = alarm(clock);
  let over: boolean | undefined;
  void bell.wait(250).then((rung) => (over = rung));
  await clock.advance(200);
  assert.equal(over, undefined);
  await clock.advance(60);
  assert.equal(over, false);
});

test('many waits that are rung share one sleep', async () => {
  const clock = simClock();
  const bell = alarm(clock);
  for (let n = 0; n < 100; n++) {
    const waiting = bell.wait(250);
    bell.ring();
    await waiting;
  }
  assert.equal(clock.slept.length, 1);
});

test('short waits between long ones add no sleeps', async () => {
  const clock = simClock();
  const bell = alarm(clock);
  for (let n = 0; n < 30; n++) {
    const long = bell.wait(1000);
    bell.ring();
    await long;
    const short = bell.wait(20);
    await clock.advance(21);
    assert.equal(await short, false);
  }
  assert.equal(clock.slept.filter((ms) => ms > 20).length, 1);
});
