/** Waiting for a ring or a timeout, on a simulated clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alarm } from '../../../src/engine/pass/alarm.js';
import { simClock } from '../../kit/sim-clock.js';

test('a ring ends the current wait, or else the next one', async () => {
  const bell = alarm(simClock());
  const waiting = bell.wait(1000);
  bell.ring();
  assert.equal(await waiting, true);
  bell.ring();
  assert.equal(bell.isRung(), true);
  assert.equal(await bell.wait(1000), true);
  assert.equal(bell.isRung(), false);
});

test('without a ring the wait lasts its full time', async () => {
  const clock = simClock();
  const bell = alarm(clock);
  let outcome: boolean | undefined;
  void bell.wait(250).then((rung) => (outcome = rung));
  await clock.advance(200);
  assert.equal(outcome, undefined);
  await clock.advance(60);
  assert.equal(outcome, false);
});

test('many interrupted waits share one sleep', async () => {
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
