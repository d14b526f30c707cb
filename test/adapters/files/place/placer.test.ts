/** The order in which files get their names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Placing } from '../../../../src/adapters/files/place/operation.js';
import { placer, type Item, type Placer } from '../../../../src/adapters/files/place/placer.js';
import { fc, runs } from '../../../kit/properties.js';

interface Ground {
  place: Placer;
  placed: string[];
  clock: { ms: number };
  journal: { durableLine: number; durable(line: number): Promise<void>; isDurable(line: number): boolean };
  /** A sync ends: these lines and all before them are durable. */
  synced(line: number): Promise<void>;
  /** Lets this time pass; a lag that ends in it wakes the placer. */
  pass(ms: number): Promise<void>;
}

/** The lag ends only when time passes: until then, files that somebody waits for start a batch. */
function ground(execute?: (item: { to: string }) => Placing): Ground {
  const placed: string[] = [];
  const clock = { ms: 0 };
  let next: { wake: () => void; at: number } | undefined;
  let syncing: (() => void)[] = [];
  const journal = {
    durableLine: 1,
    isDurable: (line: number) => line <= journal.durableLine,
    async durable(line: number) {
      while (!journal.isDurable(line)) await new Promise<void>((resolve) => void syncing.push(resolve));
    },
  };
  const place = placer({
    journal,
    execute: execute ?? (({ to }) => (placed.push(to), { kind: 'placed', stamp: '' })),
    monotonicMs: () => clock.ms,
    lag: (wake, ms) => (next = { wake, at: clock.ms + ms }),
  });
  return { place, placed, clock, journal, synced, pass };

  async function synced(line: number): Promise<void> {
    journal.durableLine = line;
    for (const resolve of syncing.splice(0)) resolve();
    syncing = [];
    await turn();
  }

  async function pass(ms: number): Promise<void> {
    const until = clock.ms + ms;
    while (next !== undefined && next.at <= until) {
      const { wake, at } = next;
      next = undefined;
      clock.ms = Math.max(clock.ms, at);
      wake();
      await turn();
    }
    clock.ms = until;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function item(name: string, line = 1): Item {
  return { key: name, to: name, line, done: () => undefined };
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
    here.clock.ms += 10;
  }
  assert.deepEqual(here.placed, ['first', 'second', 'part', 'third']);
  assert.equal(here.place.worstLagMs(), 20);
});

test('a file that nobody waits for is placed when it is due, with those of its age', async () => {
  const here = ground();
  here.place.put(item('old'));
  await here.pass(5);
  here.place.put(item('nearly as old'));
  await here.pass(8);
  here.place.put(item('young'));
  assert.deepEqual(here.placed, []);
  await here.pass(10);
  assert.deepEqual(here.placed, ['old', 'nearly as old']);
  await here.pass(20);
  assert.deepEqual(here.placed, ['old', 'nearly as old', 'young']);
  assert.equal(here.place.worstLagMs(), 15);
});

test('a young file is not placed because an older one was', async () => {
  const here = ground();
  await end(here, 'first');
  await here.pass(15);
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

test('a file that changes all the time is due after its first change', async () => {
  const here = ground();
  const busy = item('as created');
  here.place.put(busy);
  for (let n = 1; n <= 14; n++) {
    await here.pass(1);
    busy.to = `change ${n}`;
  }
  assert.deepEqual(here.placed, []);
  await here.pass(1);
  assert.deepEqual(here.placed, ['change 14']);
});

test('a file that is due does not wait for the sync of another one', async () => {
  const here = ground();
  here.place.put(item('durable'));
  const waited = item('waited for', 2);
  here.place.put(waited);
  const placing = here.place.placed(waited, { isAlone: true });
  await here.pass(20);
  assert.deepEqual(here.placed, ['durable']);
  await here.synced(2);
  assert.equal((await placing).kind, 'placed');
});

test('a file waits for the lines of the files that must come before it', async () => {
  const here = ground();
  const [first, second] = [item('first', 2), item('second', 1)];
  here.place.put(first);
  here.place.put(second);
  const placing = here.place.placed(second);
  await turn();
  assert.deepEqual(here.placed, []);
  await here.synced(2);
  await placing;
  assert.deepEqual(here.placed, ['first', 'second']);
});

test('a flush does not wait for files that are queued after it', async () => {
  const here = ground();
  here.place.put(item('before', 2));
  const flushed = here.place.flush();
  here.place.put(item('after', 3));
  await here.synced(2);
  await flushed;
  assert.deepEqual(here.placed, ['before']);
});

test('a name that cannot be cleared ends the wait with an error', async () => {
  const here = ground(() => ({ kind: 'taken' }));
  const stuck = { ...item('stuck'), done: () => true };
  here.place.put(stuck);
  await assert.rejects(here.place.placed(stuck), /stuck cannot be moved out of the way/);
  await assert.rejects(here.place.flush(), /stuck/);
});

test('everything that is late is placed before new work starts', async () => {
  const here = ground();
  here.place.put(item('late', 2));
  here.clock.ms += 490;
  assert.equal(here.place.catchUp(), undefined, 'a busy process may be this late');
  here.place.put(item('young', 2));
  here.clock.ms += 11;
  const behind = here.place.catchUp();
  assert.equal(here.place.catchUp(), behind, 'all claims wait for the same files');
  await here.synced(2);
  await behind;
  assert.deepEqual(here.placed, ['late']);
});

const happening = fc.record({
  what: fc.constantFrom('change', 'wait', 'sync', 'pass', 'pass'),
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  ms: fc.integer({ min: 1, max: 8 }),
});

test('whatever happens, a file is placed when it is due or its line is durable', async () => {
  const story = fc.array(happening, { maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(story, async (happenings) => {
      const here = ground();
      /** When each file was first behind, and when each line became durable. */
      const since = new Map<string, number>();
      const durableAt = [0, 0];
      let line = 1;
      for (const { what, key, ms } of [
        ...happenings,
        { what: 'sync', key: '', ms: 0 },
        { what: 'pass', key: '', ms: 50 },
      ]) {
        const known = here.place.get(key);
        if (what === 'change') change(key, known);
        if (what === 'wait' && known !== undefined) void here.place.placed(known, { isAlone: true });
        if (what === 'sync') await sync();
        if (what === 'pass') await here.pass(ms);
      }
      assert.equal(since.size, 0, 'a file was never placed');

      function change(key: string, known: Item | undefined): void {
        line++;
        if (known !== undefined) return void (known.line = line);
        since.set(key, here.clock.ms);
        const changed = item(key, line);
        here.place.put({ ...changed, done: () => placedNow(key, here.place.get(key)!.line) });
      }

      function placedNow(key: string, at: number): void {
        const bound = Math.max(since.get(key)! + 20, durableAt[at]!);
        assert.ok(here.clock.ms <= bound, `${key} is placed at ${here.clock.ms} and not at ${bound}`);
        since.delete(key);
      }

      async function sync(): Promise<void> {
        while (durableAt.length <= line) durableAt.push(here.clock.ms);
        await here.synced(line);
      }
    }),
    { numRuns: runs(400) },
  );
});

for (const isAlone of [true, false]) {
  const whose = isAlone ? 'the ends of tasks' : 'files that come in order';
  test(`hundreds of files cost as much each as a few: ${whose}`, async () => {
    const looks = async (files: number): Promise<number> => {
      const here = ground();
      const { isDurable } = here.journal;
      let count = 0;
      here.journal.isDurable = (line) => (count++, isDurable(line));
      const waiting: Promise<Placing>[] = [];
      // Ten files are added during one sync, between others that nobody waits for.
      for (let n = 1; n <= files; n++) {
        here.place.put(item(`part ${n}`, n));
        const wanted = item(`end ${n}`, n);
        here.place.put(wanted);
        waiting.push(here.place.placed(wanted, { isAlone }));
        await turn();
        if (n % 10 === 0) await here.synced(n);
      }
      await Promise.all(waiting);
      assert.ok(here.placed.length >= files);
      return count / files;
    };
    const few = await looks(20);
    const many = await looks(400);
    assert.ok(many <= few * 1.2, `${few} looks at a file among 20, ${many} among 400`);
    assert.ok(few <= 15, `${few} looks at a file`);
  });
}
