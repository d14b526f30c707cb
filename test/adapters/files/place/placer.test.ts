/** The order in which files get their names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placer, type Item, type Placer } from '../../../../src/adapters/files/place/placer.js';

interface Ground {
  place: Placer;
  placed: string[];
  clock: { ms: number };
  /** Lets the time pass, with the lag that ends in it. */
  pass(ms: number): Promise<void>;
}

/** The lag ends only when time passes: until then, files that somebody waits for start a batch. */
function ground(): Ground {
  const placed: string[] = [];
  const clock = { ms: 0 };
  let next: { wake: () => void; at: number } | undefined;
  const place = placer({
    journal: { durable: async () => undefined },
    execute: ({ to }) => (placed.push(to), { kind: 'placed', stamp: '' }),
    monotonicMs: () => clock.ms,
    lag: (wake, ms) => (next = { wake, at: clock.ms + ms }),
  });
  return { place, placed, clock, pass };

  async function pass(ms: number): Promise<void> {
    const until = clock.ms + ms;
    while (next !== undefined && next.at <= until) {
      const { wake, at } = next;
      next = undefined;
      clock.ms = Math.max(clock.ms, at);
      wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    clock.ms = until;
  }
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

test('a file that nobody waits for is placed once it has settled, with those of its age', async () => {
  const here = ground();
  here.place.put(item('old'));
  await here.pass(5);
  here.place.put(item('nearly as old'));
  await here.pass(20);
  here.place.put(item('young'));
  assert.deepEqual(here.placed, []);
  await here.pass(10);
  assert.deepEqual(here.placed, ['old', 'nearly as old']);
  await here.pass(30);
  assert.deepEqual(here.placed, ['old', 'nearly as old', 'young']);
  assert.equal(here.place.worstLagMs(), 30);
});

test('a young file is not placed because an older one was', async () => {
  const here = ground();
  await end(here, 'first');
  await here.pass(25);
  here.place.put(item('part'));
  await here.pass(10);
  assert.deepEqual(here.placed, ['first'], 'the lag of the first file has ended');
  await here.pass(20);
  assert.deepEqual(here.placed, ['first', 'part']);
});

test('a file that somebody waits for brings those before it, but not those after it', async () => {
  const here = ground();
  const wanted = item('wanted');
  here.place.put(item('before'));
  here.place.put(wanted);
  here.place.put(item('after'));
  await here.place.placed(wanted);
  assert.deepEqual(here.placed, ['before', 'wanted']);
});
