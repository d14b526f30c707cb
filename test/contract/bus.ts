/** What every bus promises. An adapter's test gives a bench: processes that join the same bus, and a clock. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Note, NotePriority } from '../../src/domain/coordination/note.js';
import type { Bus } from '../../src/ports/bus.js';
import type { SimClock } from '../kit/sim-clock.js';

export interface BusBench {
  clock: SimClock;
  /** Another process on the same bus. Readers may have `mostUnread` notes before them without slowing a teller. */
  join(mostUnread?: number): Bus;
}

export function note(id: string, more: Partial<Note> = {}): Note {
  const body = { type: 'said', text: `This is ${id}.` } as const;
  return { id, channel: 'news', from: 'ana', at: '2026-01-01T00:00:00.000Z', priority: 'normal', body, ...more };
}

const idsOf = (notes: readonly Note[]): string[] => notes.map((one) => one.id);
const many = (from: number, to: number): Note[] => Array.from({ length: to - from }, (_, i) => note(`n${from + i}`));

export function busContract(name: string, bench: () => BusBench): void {
  describe(`bus: ${name}`, () => {
    test('what is told is read by every reader, in this process and in others', async () => {
      const { join } = bench();
      const [one, two] = [join(), join()];
      assert.equal(await one.tell([note('a'), note('b')], { durable: true }), undefined);
      for (const bus of [one, two, join()]) {
        bus.refresh();
        assert.deepEqual(bus.read('news'), [note('a'), note('b')]);
        assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['a', 'b']);
        assert.deepEqual(idsOf(bus.unread('news', 'cleo')), ['a', 'b']);
      }
    });

    test('a later critical note comes before earlier low ones; within a priority the order of telling stays', async () => {
      const bus = bench().join();
      const order: NotePriority[] = ['low', 'normal', 'low', 'high', 'critical', 'normal', 'critical'];
      await bus.tell(order.map((priority, i) => note(`${priority}-${i}`, { priority })));
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), [
        'critical-4',
        'critical-6',
        'high-3',
        'normal-1',
        'normal-5',
        'low-0',
        'low-2',
      ]);
      assert.deepEqual(idsOf(bus.unread('news', 'bob', 2)), ['critical-4', 'critical-6']);
    });

    test('what a reader is done with is not shown to it again, in whatever order, and others still see it', async () => {
      const { join } = bench();
      const bus = join();
      await bus.tell(many(0, 6));
      await bus.done('news', 'bob', ['n4', 'n1']);
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['n0', 'n2', 'n3', 'n5']);
      await bus.done('news', 'bob', ['n0', 'n2', 'n3']);
      assert.deepEqual(idsOf(join().unread('news', 'bob')), ['n5']);
      assert.equal(join().unread('news', 'cleo').length, 6);
      await join().tell([note('n6')]);
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['n5', 'n6']);
    });

    test('done by two processes for one reader: both count', async () => {
      const { join } = bench();
      const [one, two] = [join(), join()];
      await one.tell(many(0, 4));
      assert.equal(one.unread('news', 'bob').length + two.unread('news', 'bob').length, 8);
      await one.done('news', 'bob', ['n0', 'n2']);
      await two.done('news', 'bob', ['n1']);
      for (const bus of [one, two, join()]) assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['n3']);
    });

    test('the same id is told once, whoever tells it; the first telling stands', async () => {
      const { join } = bench();
      const [one, two] = [join(), join()];
      const heard: string[] = [];
      one.subscribe('news', (told) => heard.push(told.from));
      await Promise.all([one.tell([note('a')]), two.tell([note('a', { from: 'bob' })]), one.tell([note('a')])]);
      await one.tell([note('a'), note('b'), note('b')], { durable: true });
      one.refresh();
      assert.deepEqual(idsOf(one.read('news')), ['a', 'b']);
      assert.deepEqual(idsOf(join().read('news')), ['a', 'b']);
      assert.equal(join().read('news')[0]!.from, 'ana');
      assert.deepEqual(heard, ['ana', 'ana']);
    });

    test('a note for one reader is shown to nobody else, and holds nobody up', async () => {
      const bus = bench().join();
      await bus.tell([note('a', { to: 'cleo' }), note('b')]);
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['b']);
      assert.deepEqual(idsOf(bus.unread('news', 'cleo')), ['a', 'b']);
    });

    test('what has expired is shown to nobody', async () => {
      const { clock, join } = bench();
      const bus = join();
      await bus.tell([note('a', { expires: '2026-01-01T00:01:00.000Z' }), note('b')]);
      await clock.advance(59_000);
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['a', 'b']);
      await clock.advance(2000);
      for (const one of [bus, join()]) {
        assert.deepEqual(idsOf(one.unread('news', 'bob')), ['b']);
        assert.deepEqual(idsOf(one.read('news')), ['b']);
      }
    });

    test('read gives the newest, oldest first', async () => {
      const bus = bench().join();
      await bus.tell(many(0, 5));
      assert.deepEqual(idsOf(bus.read('news', 2)), ['n3', 'n4']);
      assert.deepEqual(bus.read('nothing'), []);
    });

    test('channels are apart from each other, those of teams too', async () => {
      const { join } = bench();
      const bus = join();
      assert.deepEqual(bus.channels(), []);
      await bus.tell([note('a'), note('b', { channel: 'team/plan.1' }), note('c', { channel: 'state' })]);
      assert.deepEqual(bus.channels(), ['news', 'state', 'team/plan.1']);
      assert.deepEqual(join().channels(), ['news', 'state', 'team/plan.1']);
      assert.deepEqual(idsOf(join().read('team/plan.1')), ['b']);
      assert.deepEqual(idsOf(join().unread('state', 'bob')), ['c']);
    });

    test('subscribers hear each note once, from their subscription on, until they stop', async () => {
      const { join } = bench();
      const [one, two] = [join(), join()];
      await one.tell([note('before')]);
      const [here, there]: [string[], string[]] = [[], []];
      const stop = one.subscribe('news', (told) => here.push(told.id));
      two.subscribe('news', (told) => there.push(told.id));
      await one.tell(many(0, 3));
      assert.deepEqual(here, ['n0', 'n1', 'n2'], 'at once in this process');
      two.refresh();
      two.refresh();
      assert.deepEqual(there, ['n0', 'n1', 'n2']);
      stop();
      await two.tell([note('after')]);
      one.refresh();
      assert.deepEqual([here.length, there.length], [3, 4]);
    });

    test('bad names and notes that are too long are refused, and nothing of that batch is told', async () => {
      const bus = bench().join();
      for (const channel of ['', '../x', 'a/b/c', '.hidden', 'team/', 'a~2', 'x'.repeat(300)])
        assert.equal((await bus.tell([note('a'), note('b', { channel })]))?.code, 'bad_name', channel);
      const text = 'x'.repeat(3_000_000);
      assert.equal((await bus.tell([note('a'), note('b', { body: { type: 'said', text } })]))?.code, 'over_limit');
      assert.deepEqual(bus.read('news'), []);
      assert.deepEqual(bus.channels(), []);
    });

    test('a slow reader slows the teller, and loses nothing', async () => {
      const { clock, join } = bench();
      const bus = join(1000);
      bus.unread('news', 'bob');
      await bus.tell(many(0, 900));
      bus.unread('news', 'bob');
      let told = false;
      const telling = bus.tell(many(900, 2000)).then(() => (told = true));
      await clock.advance(50);
      assert.equal(told, false, 'it waits');
      const first = bus.unread('news', 'bob');
      assert.equal(first.length, 2000, 'what is held up is there already');
      await bus.done('news', 'bob', idsOf(first.slice(0, 1500)));
      await clock.advance(50);
      await telling;
      assert.equal(bus.unread('news', 'bob').length, 500);
    });

    test('a reader that is dead holds a teller up once, and no more', async () => {
      const { clock, join } = bench();
      const bus = join(1000);
      bus.unread('news', 'bob');
      const first = bus.tell(many(0, 2000));
      await clock.advance(10_000);
      await first;
      for (let n = 2000; n < 6000; n += 1000) await bus.tell(many(n, n + 1000));
      assert.equal(bus.unread('news', 'bob').length, 6000);
      await bus.done('news', 'bob', ['n0']); // it lives again
      let told = false;
      const telling = bus.tell(many(6000, 7000)).then(() => (told = true));
      await clock.advance(50);
      assert.equal(told, false);
      await clock.advance(10_000);
      await telling;
    });

    test('300 readers in several processes read all of what ten tellers tell', async () => {
      const { join } = bench();
      const all = [join(), join(), join()];
      const wanted = Array.from({ length: 10 }, (_, teller) =>
        Array.from({ length: 20 }, (_, n) => note(`t${teller}-${n}`, { from: `t${teller}` })),
      );
      await Promise.all(wanted.flatMap((notes, i) => notes.map((one) => all[i % 3]!.tell([one]))));
      const expected = wanted.flatMap(idsOf).sort();
      for (let r = 0; r < 300; r++) {
        const reader = `agent-${r}`;
        const got: string[] = [];
        for (let round = 0; ; round++) {
          const bus = round % 5 === 4 ? join() : all[(r + round) % 3]!;
          const next = bus.unread('news', reader, 70);
          if (next.length === 0) break;
          got.push(...idsOf(next));
          await bus.done('news', reader, idsOf(next));
        }
        assert.deepEqual(got.sort(), expected, reader);
      }
    });
  });
}
