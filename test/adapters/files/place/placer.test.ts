/** The order in which files get their names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placer, type Item, type Placer } from '../../../../src/adapters/files/place/placer.js';

interface Ground {
  place: Placer;
  placed: string[];
  clock: { ms: number };
}

/** The lag never ends by itself: only files that somebody waits for start a batch. */
function ground(): Ground {
  const placed: string[] = [];
  const clock = { ms: 0 };
  const place = placer({
    journal: { durable: async () => undefined },
    execute: ({ to }) => (placed.push(to), { kind: 'placed', stamp: '' }),
    monotonicMs: () => clock.ms,
    lag: () => undefined,
    afterBatch: () => undefined,
  });
  return { place, placed, clock };
}

function item(name: string): Item {
  return { key: name, to: name, line: 1, done: () => undefined };
}

async function end({ place }: Ground, name: string): Promise<void> {
  const ended = item(name);
  place.put(ended);
  await place.placed(ended, { isAlone: true });
}

test('an end that is waited for comes before files that nobody waits for', async () => {
  const here = ground();
  here.place.put(item('part'));
  await end(here, 'end');
  assert.deepEqual(here.placed, ['end']);
});

test('one end after the other does not hold back a file for longer than a moment', async () => {
  const here = ground();
  here.place.put(item('part'));
  for (const name of ['first', 'second', 'third']) {
    await end(here, name);
    here.clock.ms += 15;
  }
  assert.deepEqual(here.placed, ['first', 'second', 'part', 'third']);
  assert.equal(here.place.worstLagMs(), 30);
});
