/**
 * The contract of every bus. An adapter's test provides a clock and processes that join one bus.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Note, NotePriority } from '../../src/domain/coordination/note.js';
import type { Bus } from '../../src/ports/bus.js';
import type { SimClock } from '../kit/sim-clock.js';

export interface BusBench {
  clock: SimClock;
  /**
   * Another process on the same bus. Readers with more than `maxUnread` notes slow writers down.
   */
  join(maxUnread?: number): Bus;
}

export function note(id: string, more: Partial<Note> = {}): Note {
  const body = { type: 'said', text: `This is ${id}.` } as const;
  return { id, channel: 'news', from: 'ana', at: '2026-01-01T00:00:00.000Z', priority: 'normal', body, ...more };
}

const idsOf = (notes: readonly Note[]): string[] => notes.map((note) => note.id);
const many = (from: number, to: number): Note[] => Array.from({ length: to - from }, (_, i) => note(`n${from + i}`));

/** Notes of other processes arrive with `refresh`. */
async function fresh(bus: Bus): Promise<Bus> {
  await bus.refresh();
  return bus;
}

export function busContract(name: string, bench: () => BusBench): void {
  describe(`bus: ${name}`, () => {
    test('a note is read by every reader in every process', async () => {
      const { join } = bench();
      const [first, second] = [join(), join()];
      assert.equal(await first.tell([note('a'), note('b')], { durable: true }), undefined);
      for (const bus of [first, second, join()]) {
        await bus.refresh();
        assert.deepEqual(bus.read('news'), [note('a'), note('b')]);
        assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['a', 'b']);
        assert.deepEqual(idsOf(bus.unread('news', 'cleo')), ['a', 'b']);
      }
    });

    test('notes are read by priority, and in order within a priority', async () => {
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

    test('a reader does not see a note again once it is done, but other readers do', async () => {
      const { join } = bench();
      const bus = join();
      await bus.tell(many(0, 6));
      await bus.done('news', 'bob', ['n4', 'n1']);
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['n0', 'n2', 'n3', 'n5']);
      await bus.done('news', 'bob', ['n0', 'n2', 'n3']);
      assert.deepEqual(idsOf((await fresh(join())).unread('news', 'bob')), ['n5']);
      assert.equal((await fresh(join())).unread('news', 'cleo').length, 6);
      await join().tell([note('n6')]);
      await bus.refresh();
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['n5', 'n6']);
    });

    test('two processes can mark notes as done for one reader', async () => {
      const { join } = bench();
      const [first, second] = [join(), join()];
      await first.tell(many(0, 4));
      await second.refresh();
      assert.equal(first.unread('news', 'bob').length + second.unread('news', 'bob').length, 8);
      await first.done('news', 'bob', ['n0', 'n2']);
      await second.done('news', 'bob', ['n1']);
      for (const bus of [first, second, join()])
        assert.deepEqual(idsOf((await fresh(bus)).unread('news', 'bob')), ['n3']);
    });

    test('only the first note with an id counts', async () => {
      const { join } = bench();
      const [first, second] = [join(), join()];
      const heard: string[] = [];
      first.subscribe('news', (heardNote) => heard.push(heardNote.from));
      await Promise.all([first.tell([note('a')]), second.tell([note('a', { from: 'bob' })]), first.tell([note('a')])]);
      await first.tell([note('a'), note('b'), note('b')], { durable: true });
      await first.refresh();
      assert.deepEqual(idsOf(first.read('news')), ['a', 'b']);
      assert.deepEqual(idsOf((await fresh(join())).read('news')), ['a', 'b']);
      assert.equal((await fresh(join())).read('news')[0]!.from, 'ana');
      assert.deepEqual(heard, ['ana', 'ana']);
    });

    test('a note to one reader is invisible to the others', async () => {
      const bus = bench().join();
      await bus.tell([note('a', { to: 'cleo' }), note('b')]);
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['b']);
      assert.deepEqual(idsOf(bus.unread('news', 'cleo')), ['a', 'b']);
    });

    test('an expired note is not shown', async () => {
      const { clock, join } = bench();
      const bus = join();
      await bus.tell([note('a', { expires: '2026-01-01T00:01:00.000Z' }), note('b')]);
      await clock.advance(59_000);
      assert.deepEqual(idsOf(bus.unread('news', 'bob')), ['a', 'b']);
      await clock.advance(2000);
      for (const instance of [bus, await fresh(join())]) {
        assert.deepEqual(idsOf(instance.unread('news', 'bob')), ['b']);
        assert.deepEqual(idsOf(instance.read('news')), ['b']);
      }
    });

    test('read returns the newest notes, oldest first', async () => {
      const bus = bench().join();
      await bus.tell(many(0, 5));
      assert.deepEqual(idsOf(bus.read('news', 2)), ['n3', 'n4']);
      assert.deepEqual(bus.read('nothing'), []);
    });

    test('channels are independent, including team channels', async () => {
      const { join } = bench();
      const bus = join();
      assert.deepEqual(bus.channels(), []);
      await bus.tell([note('a'), note('b', { channel: 'team/plan.1' }), note('c', { channel: 'state' })]);
      assert.deepEqual(bus.channels(), ['news', 'state', 'team/plan.1']);
      assert.deepEqual((await fresh(join())).channels(), ['news', 'state', 'team/plan.1']);
      assert.deepEqual(idsOf((await fresh(join())).read('team/plan.1')), ['b']);
      assert.deepEqual(idsOf((await fresh(join())).unread('state', 'bob')), ['c']);
    });

    test('subscribers hear each new note once until they unsubscribe', async () => {
      const { join } = bench();
      const [first, second] = [join(), join()];
      await first.tell([note('before')]);
      const [local, other]: [string[], string[]] = [[], []];
      await second.refresh();
      const stop = first.subscribe('news', ({ id }) => local.push(id));
      second.subscribe('news', ({ id }) => other.push(id));
      await first.tell(many(0, 3));
      assert.deepEqual(local, ['n0', 'n1', 'n2'], 'immediately in this process');
      await second.refresh();
      await second.refresh();
      assert.deepEqual(other, ['n0', 'n1', 'n2']);
      stop();
      await second.tell([note('after')]);
      await first.refresh();
      assert.deepEqual([local.length, other.length], [3, 4]);
    });

    test('an invalid channel name or a note that is too long refuses the whole batch', async () => {
      const bus = bench().join();
      for (const channel of ['', '../x', 'a/b/c', '.hidden', 'team/', 'a~2', 'x'.repeat(300)])
        assert.equal((await bus.tell([note('a'), note('b', { channel })]))?.code, 'bad_name', channel);
      const text = 'x'.repeat(3_000_000);
      assert.equal((await bus.tell([note('a'), note('b', { body: { type: 'said', text } })]))?.code, 'over_limit');
      assert.deepEqual(bus.read('news'), []);
      assert.deepEqual(bus.channels(), []);
    });

    test('a slow reader slows the writer and loses nothing', async () => {
      const { clock, join } = bench();
      const bus = join(1000);
      bus.unread('news', 'bob');
      await bus.tell(many(0, 900));
      bus.unread('news', 'bob');
      let resolved = false;
      const telling = bus.tell(many(900, 2000)).then(() => (resolved = true));
      await clock.advance(50);
      assert.equal(resolved, false, 'it waits');
      const first = bus.unread('news', 'bob');
      assert.equal(first.length, 2000, 'the notes are readable before the write resolves');
      await bus.done('news', 'bob', idsOf(first.slice(0, 1500)));
      await clock.advance(50);
      await telling;
      assert.equal(bus.unread('news', 'bob').length, 500);
    });

    test('a dead reader delays writers only once', async () => {
      const { clock, join } = bench();
      const bus = join(1000);
      bus.unread('news', 'bob');
      const first = bus.tell(many(0, 2000));
      await clock.advance(10_000);
      await first;
      for (let n = 2000; n < 6000; n += 1000) await bus.tell(many(n, n + 1000));
      assert.equal(bus.unread('news', 'bob').length, 6000);
      await bus.done('news', 'bob', ['n0']); // it moves again
      let resolved = false;
      const telling = bus.tell(many(6000, 7000)).then(() => (resolved = true));
      await clock.advance(50);
      assert.equal(resolved, false);
      await clock.advance(10_000);
      await telling;
    });

    test('300 readers in several processes read every note of ten writers', async () => {
      const { join } = bench();
      const all = [join(), join(), join()];
      const wanted = Array.from({ length: 10 }, (_, teller) =>
        Array.from({ length: 20 }, (_, n) => note(`t${teller}-${n}`, { from: `t${teller}` })),
      );
      await Promise.all(wanted.flatMap((notes, i) => notes.map((note) => all[i % 3]!.tell([note]))));
      const expected = wanted.flatMap(idsOf).sort();
      for (let r = 0; r < 300; r++) {
        const reader = `agent-${r}`;
        const got: string[] = [];
        for (let round = 0; ; round++) {
          const bus = await fresh(round % 5 === 4 ? join() : all[(r + round) % 3]!);
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
