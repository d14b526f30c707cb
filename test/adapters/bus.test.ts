/** Notes in files: what people and crashes do to them, and what stays. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fc } from '../kit/properties.js';
import { bus, type BusOptions } from '../../src/adapters/bus/index.js';
import { channel, newest } from '../../src/adapters/bus/channel.js';
import { partFiles } from '../../src/adapters/bus/part-files.js';
import { clock as realClock } from '../../src/adapters/clock/index.js';
import { disk as realDisk } from '../../src/adapters/disk/index.js';
import type { Note } from '../../src/domain/coordination/note.js';
import type { Bus } from '../../src/ports/bus.js';
import type { Disk } from '../../src/ports/disk.js';
import { printNote } from '../../src/text/records/note.js';
import { note } from '../contract/bus.js';
import { crashDisk } from '../kit/crash-disk.js';
import { simClock } from '../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';

const FILE = '/w/bus/news.jsonl';
const clock = simClock();
const on = (disk: Disk, more: Partial<BusOptions> = {}): Bus => bus({ root: '/w', disk, clock, ...more });
const idsOf = (notes: readonly Note[]): string[] => notes.map((one) => one.id);
const textOf = (disk: SimDisk, file = FILE): string => disk.tree().get(file) ?? '';

describe('what people do', () => {
  test('a note is one line, and the channel is the file', async () => {
    const disk = simDisk();
    await on(disk).tell([note('a', { to: 'bob', task: 't', priority: 'high', expires: '2027-01-01T00:00:00.000Z' })]);
    assert.equal(
      textOf(disk),
      '{"id":"a","at":"2026-01-01T00:00:00.000Z","from":"ana","priority":"high","to":"bob","task":"t","expires":"2027-01-01T00:00:00.000Z","body":{"type":"said","text":"This is a."}}\n',
    );
  });

  test('a line added by hand is a note of theirs; a bad one is a problem with its place, told once, and its neighbours are read', async () => {
    const disk = simDisk();
    const one = on(disk);
    await one.tell([note('a')]);
    disk.append(FILE, '{"text": "from me", "priority": "critical"}\nnot json\n{"id":"c"}\n[1]\n');
    await one.tell([note('b')]);
    const [hand, ...rest] = one.unread('news', 'bob');
    assert.deepEqual([hand!.from, hand!.body], ['human', { type: 'said', text: 'from me' }]);
    assert.deepEqual(idsOf(rest), ['a', 'b']);
    const problems = one.refresh();
    assert.deepEqual(
      problems.map(({ code, where }) => [code, where?.file, where?.line]),
      [
        ['bad_file', 'bus/news.jsonl', 3],
        ['bad_field', 'bus/news.jsonl', 4],
        ['bad_field', 'bus/news.jsonl', 5],
      ],
    );
    assert.deepEqual(one.refresh(), []);
    await one.done('news', 'bob', [hand!.id, 'a']);
    assert.deepEqual(idsOf(on(disk).unread('news', 'bob')), ['b'], 'a line without an id is known again');
  });

  test('an editor that saves the file anew: what is new in it is heard, what was done stays done', async () => {
    const disk = simDisk();
    const one = on(disk);
    const heard: string[] = [];
    one.subscribe('news', ({ id }) => heard.push(id));
    await one.tell([note('a'), note('b'), note('c')]);
    await one.done('news', 'bob', ['a', 'b']);
    const lines = textOf(disk).split('\n');
    disk.save(FILE, [lines[1], lines[2], '{"id":"x","text":"by hand"}', ''].join('\n'));
    assert.deepEqual(idsOf(one.unread('news', 'bob')), ['c', 'x']);
    await one.tell([note('d')]);
    assert.deepEqual(heard, ['a', 'b', 'c', 'x', 'd']);
    assert.deepEqual(idsOf(on(disk).read('news')), ['b', 'c', 'x', 'd']);
    assert.deepEqual(idsOf(on(disk).unread('news', 'bob')), ['c', 'x', 'd']);
  });

  test('a last line without its end is not yet a line', async () => {
    const disk = simDisk();
    const one = on(disk);
    await one.tell([note('a')]);
    disk.append(FILE, '{"id":"x","text":"half ');
    assert.deepEqual(idsOf(one.read('news')), ['a']);
    disk.append(FILE, 'and half"}\n');
    assert.deepEqual(idsOf(one.read('news')), ['a', 'x']);
    assert.deepEqual(one.refresh(), []);
  });

  test('a torn end is left behind: what is told next stands on a line of its own, whoever tells it', async () => {
    const disk = simDisk();
    const one = on(disk);
    await one.tell([note('a')]);
    disk.append(FILE, '{"id":"x","text":"ha');
    await on(disk).tell([note('b')]);
    await one.tell([note('c')]);
    for (const each of [one, on(disk)]) assert.deepEqual(idsOf(each.read('news')), ['a', 'b', 'c']);
    assert.equal(on(disk).refresh().length, 0, 'nothing is open yet');
    assert.equal(one.refresh().length, 1);
  });

  test('somebody dies in the middle of a line right before ours: ours is told again, on a line of its own', async () => {
    const disk = simDisk();
    await on(disk).tell([note('a')]);
    let torn = false;
    const unlucky: Disk = {
      ...disk,
      append(file, bytes) {
        if (!torn) disk.append(file, '{"id":"x","te');
        torn = true;
        return disk.append(file, bytes);
      },
    };
    const one = on(unlucky);
    await one.tell([note('b'), note('c')]);
    for (const each of [one, on(disk)]) assert.deepEqual(idsOf(each.read('news')).sort(), ['a', 'b', 'c']);
  });

  test('cursors that are lost, or cannot be read, cost reading again and nothing else', async () => {
    const disk = simDisk();
    await on(disk).tell([note('a'), note('b')]);
    await on(disk).done('news', 'bob', ['a']);
    const cursor = [...disk.tree().keys()].find((file) => file.startsWith('/w/.guild/bus/'))!;
    disk.save(cursor, '{"reader":"bob","par');
    assert.deepEqual(idsOf(on(disk).unread('news', 'bob')), ['a', 'b']);
    disk.remove(cursor);
    assert.deepEqual(idsOf(on(disk).unread('news', 'bob')), ['a', 'b']);
  });

  test('the file is taken away: the channel begins anew, here and for others', async () => {
    const disk = simDisk();
    const one = on(disk);
    await one.tell([note('a')]);
    disk.remove(FILE);
    await one.tell([note('b')]);
    for (const each of [one, on(disk)]) assert.deepEqual(idsOf(each.read('news')), ['b']);
  });
});

describe('files that have grown', () => {
  const small = { partBytes: 1000 };

  test('a channel goes on in another file, and those in which all has expired are removed', async () => {
    const disk = simDisk();
    const now = simClock();
    const one = bus({ root: '/w', disk, clock: now, ...small });
    const other = bus({ root: '/w', disk, clock: now, ...small });
    const at = (ms: number): string => new Date(now.now().getTime() + ms).toISOString();
    for (let n = 0; n < 40; n++) await one.tell([note(`n${n}`, { expires: at(n < 20 ? 1000 : 100_000) })]);
    const files = (): number => disk.list('/w/bus').length;
    assert.equal(other.read('news').length, 40);
    const before = files();
    assert.ok(before > 5, `${before} files`);
    await now.advance(2000);
    assert.equal(other.read('news').length, 20);
    assert.ok(files() < before);
    await one.tell([note('more', { expires: at(100_000) })]);
    assert.deepEqual(
      idsOf(bus({ root: '/w', disk, clock: now }).read('news')),
      idsOf(one.read('news')),
      'who comes later reads the same',
    );
    assert.equal(one.read('news').length, 21);
  });

  test('two tellers at the edge of a file, in any order of their steps: each note reaches a reader that reads along, and one that comes later', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 40 }), async (interruptions) => {
        const disk = simDisk();
        const reader = on(disk, small);
        const [a, b] = [on(disk, small), on(disk, small)];
        const heard = new Set<string>();
        reader.subscribe('news', ({ id }) => heard.add(id));
        let n = 0;
        const told: string[] = [];
        // Between any two steps of one teller the other may tell, and the reader may look.
        const interrupted = on(
          new Proxy(disk, {
            get(of, name: keyof Disk) {
              const call = of[name] as (...args: unknown[]) => unknown;
              if (typeof call !== 'function') return call;
              return (...args: unknown[]): unknown => {
                const what = interruptions.pop() ?? 0;
                if (what === 1) reader.refresh();
                if (what >= 2) {
                  const id = `b${n++}`;
                  told.push(id);
                  void (what === 2 ? a : b).tell([note(id, { body: { type: 'said', text: 'x'.repeat(300) } })]);
                }
                return call.apply(of, args);
              };
            },
          }),
          small,
        );
        for (let i = 0; i < 8; i++) {
          const id = `a${i}`;
          told.push(id);
          await interrupted.tell([note(id, { body: { type: 'said', text: 'y'.repeat(300) } })]);
        }
        reader.refresh();
        assert.deepEqual([...heard].sort(), told.sort());
        assert.deepEqual(idsOf(on(disk).read('news')).sort(), told);
      }),
      { numRuns: 150 },
    ));
});

describe('how little a step asks of the disk', () => {
  /** What was asked of it since the last time, each with its file's name. */
  function counted(disk: Disk): { disk: Disk; asked: () => string[] } {
    const calls: string[] = [];
    const counting = new Proxy(disk, {
      get(of, name: keyof Disk) {
        const call = of[name] as (...args: unknown[]) => unknown;
        if (typeof call !== 'function') return call;
        return (...args: unknown[]): unknown => {
          calls.push(`${name} ${path.basename(String(args[0]))}`);
          return call.apply(of, args);
        };
      },
    });
    return { disk: counting, asked: () => calls.splice(0) };
  }

  test('telling looks once and appends once; looking where nothing happened looks once', async () => {
    const plain = simDisk();
    const { disk, asked } = counted(plain);
    const one = on(disk);
    await one.tell([note('a')]);
    asked();
    await one.tell([note('b'), note('c')]);
    assert.deepEqual(asked(), ['stamp news.jsonl', 'append news.jsonl']);
    one.refresh();
    assert.deepEqual(asked(), ['stamp news.jsonl']);
    one.unread('news', 'bob');
    assert.deepEqual(asked(), ['stamp news.jsonl', 'stamp bob.json']);
    await one.done('news', 'bob', ['a']);
    asked();
    await one.done('news', 'bob', ['b']);
    assert.equal(asked().length, 5);
    await on(plain).tell([note('d')]);
    assert.deepEqual(idsOf(one.read('news')), ['a', 'b', 'c', 'd']);
    assert.deepEqual(asked(), ['stamp news.jsonl', 'stamp news~2.jsonl', 'readFrom news.jsonl']);
  });

  test('a batch of several files is told in order, and what was told before is not told again', async () => {
    const disk = simDisk();
    const one = on(disk, { partBytes: 1000 });
    await one.tell([note('n3'), note('n7')]);
    const all = [...Array(30).keys()].map((n) => note(`n${n}`, { body: { type: 'said', text: 'x'.repeat(200_000) } }));
    await one.tell([...all, all[5]!], { durable: true });
    const expected = ['n3', 'n7', ...idsOf(all).filter((id) => id !== 'n3' && id !== 'n7')];
    assert.equal(disk.list('/w/bus').length, 2, 'four megabytes at once, and a file that has grown gets a successor');
    for (const each of [one, on(disk)]) assert.deepEqual(idsOf(each.read('news')), expected);
  });

  test('folders that are taken away are made again for the cursor', async () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-cursors-'));
    const join = (): Bus => bus({ root, disk: realDisk(), clock });
    const one = join();
    await one.tell([note('a'), note('b'), note('c'), note('d')]);
    await one.done('news', 'bob', ['a']);
    fs.rmSync(path.join(root, '.guild', 'tmp'), { recursive: true });
    await one.done('news', 'bob', ['b']);
    assert.deepEqual(idsOf(join().unread('news', 'bob')), ['c', 'd']);
    fs.rmSync(path.join(root, '.guild', 'bus'), { recursive: true });
    await one.done('news', 'bob', ['c']);
    assert.deepEqual(idsOf(join().unread('news', 'bob')), ['d']);
    fs.rmSync(root, { recursive: true, force: true });
  });
});

test('a file that a person put behind one that was not full is found by the look that comes without a hint, or when others tell', async () => {
  const disk = simDisk();
  const files = partFiles(
    disk,
    '/w',
    () => '2026-01-01T00:00:00.000Z',
    (one) => assert.fail(one.message),
  );
  const news = channel('news');
  await on(disk).tell([note('a')]);
  files.refresh(news);
  disk.create('/w/bus/news~2.jsonl', '{"id":"b","text":"by hand"}\n');
  files.refresh(news, true);
  assert.deepEqual(
    [...news.where],
    [
      ['a', 1],
      ['b', 2],
    ],
  );
  const late = on(disk);
  await late.tell([note('c')]);
  files.refresh(news);
  assert.equal(news.where.get('c'), 2);
});

describe('memory', () => {
  test('of a channel that goes on for ever only the newest notes are in memory, and all are read when they are asked for', async () => {
    const disk = simDisk();
    const problems: string[] = [];
    const now = (): string => '2026-01-01T00:00:00.000Z';
    const limits = { partBytes: 2000, mostAwake: 30 };
    const files = partFiles(disk, '/w', now, (one) => void problems.push(one.message), limits);
    const news = channel('news');
    const all = Array.from({ length: 1000 }, (_, i) => note(`n${i}`));
    for (let i = 0; i < all.length; i += 10) {
      const ten = all.slice(i, i + 10);
      files.append(
        news,
        ten,
        ten.map((one) => `${printNote(one)}\n`),
      );
      if (i === 500) disk.append(FILE, 'not json\n'); // in a file that rests by now: nobody reads it for that
      const awake = news.parts.reduce((sum, part) => sum + part.notes.length, 0);
      assert.ok(awake <= 50, `${awake} notes in memory after ${i}`);
      assert.equal(news.where.size, awake);
    }
    assert.deepEqual(newest(news, now()), all);
    assert.deepEqual(newest(news, now(), 3), all.slice(-3));
    const late = channel('news');
    files.refresh(late);
    assert.deepEqual(newest(late, now()), all, 'and by whoever comes later');
    assert.ok(late.where.size <= 50, `${late.where.size} notes in memory`);
    assert.equal(problems.length, 1, 'told by who read it from the beginning, once');
  });

  test('what a person takes out of an old file is passed over, and nothing else is', async () => {
    const disk = simDisk();
    const one = on(disk, { partBytes: 300, mostAwake: 0 });
    for (let i = 0; i < 12; i++) await one.tell([note(`n${i}`)]);
    await one.done('news', 'bob', ['n0']);
    assert.match(textOf(disk), /"n0".*\n.*"n1".*\n.*"n2"/);
    disk.save(FILE, textOf(disk).replace(/^.*"n1".*\n/m, ''));
    const left = Array.from({ length: 10 }, (_, i) => `n${i + 2}`);
    assert.deepEqual(idsOf(one.unread('news', 'bob')), left);
    await one.done('news', 'bob', ['n2']);
    assert.deepEqual(idsOf(one.unread('news', 'bob')), left.slice(1));
  });

  test('however many channels were used, a look is at a few of them; a forgotten one is there again when it is asked for', async () => {
    const disk = simDisk();
    let looks = 0;
    const counting: Disk = { ...disk, stamp: (file) => (looks++, disk.stamp(file)) };
    const one = on(counting, { mostIdle: 5 });
    const heard: string[] = [];
    one.subscribe('team/t0', (note) => heard.push(note.id));
    for (let i = 0; i < 200; i++) {
      await one.tell([note(`a${i}`, { channel: `team/t${i}` }), note(`b${i}`, { channel: `team/t${i}` })]);
      await one.done(`team/t${i}`, 'bob', [`a${i}`]);
    }
    disk.append('/w/bus/team/t7.jsonl', 'not json\n');
    looks = 0;
    one.refresh();
    assert.ok(looks <= 6, `${looks} looks`);
    assert.deepEqual(idsOf(one.unread('team/t7', 'bob')), ['b7']);
    assert.equal(one.refresh().length, 1);
    for (let i = 10; i < 30; i++) one.read(`team/t${i}`);
    assert.deepEqual(idsOf(one.read('team/t7')), ['a7', 'b7']);
    assert.deepEqual(one.refresh(), [], 'what is wrong with it was told');
    await one.tell([note('a7', { channel: 'team/t7' }), note('c7', { channel: 'team/t7' })]);
    assert.deepEqual(idsOf(one.read('team/t7')), ['a7', 'b7', 'c7'], 'what was told before is not told again');
    await on(disk).tell([note('c0', { channel: 'team/t0' })]);
    one.refresh();
    assert.deepEqual(heard, ['a0', 'b0', 'c0'], 'who hears a channel keeps it in memory');
  });
});

describe('hints', () => {
  test('what another tells is heard by whoever follows, on its own channel and on that of a team', async () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-hints-'));
    const [here, there] = [1, 2].map(() => bus({ root, disk: realDisk(), clock: realClock() })) as [Bus, Bus];
    const stop = here.follow();
    const heard = new Set<string>();
    const all = new Promise<void>((resolve) => {
      for (const channel of ['news', 'team/plan'])
        here.subscribe(channel, ({ id }) => void (heard.add(id).size === 40 && resolve()));
    });
    for (let n = 0; n < 20; n++)
      await there.tell([note(`n${n}`), note(`t${n}`, { channel: 'team/plan' }), note(`o${n}`, { channel: 'other' })]);
    const alive = setInterval(() => undefined, 1000);
    await all;
    clearInterval(alive);
    stop();
    fs.rmSync(root, { recursive: true, force: true });
    assert.ok(![...heard].some((id) => id.startsWith('o')));
  });
});

describe('crashes', () => {
  /** Tells, reads and moves the cursor; what was acknowledged is noted. */
  async function work(disk: Disk, said: { told: string[]; done: string[] }): Promise<void> {
    const one = on(disk, { partBytes: 700 });
    for (let n = 0; n < 6; n++) {
      const batch = [note(`n${n}-a`), note(`n${n}-b`)];
      await one.tell(batch, { durable: true });
      said.told.push(...idsOf(batch));
      const [first] = one.unread('news', 'bob', 1);
      await one.done('news', 'bob', [first!.id]);
      said.done.push(first!.id);
    }
  }

  test('dying at every change: what was told is there once, what was not done is unread, and it goes on', async () => {
    for (let n = 1, more = true; more; n++) {
      const disk = simDisk();
      const said = { told: [] as string[], done: [] as string[] };
      const failing = crashDisk(disk, n);
      await work(failing, said).catch(() => undefined);
      more = failing.count() >= n;
      check(disk, said, `change ${n}`);
      await work(disk, said);
      check(disk, said, `change ${n}, again`);
      assert.equal(on(disk).read('news').length, 12);
    }
  });

  test('a power cut at every change: what was told durably is there', async () => {
    for (let seed = 1; seed <= 4; seed++)
      for (let n = 1, more = true; more; n++) {
        const disk = simDisk();
        const said = { told: [] as string[], done: [] as string[] };
        const failing = crashDisk(disk, n);
        await work(failing, said).catch(() => undefined);
        more = failing.count() >= n;
        disk.powerCut(seeded(seed * 1000 + n));
        check(disk, said, `power cut at ${n}, seed ${seed}`);
        await work(disk, said);
        check(disk, said, `power cut at ${n}, seed ${seed}, again`);
      }
  });

  test('a full disk: the teller is told, and telling again tells what is missing once', async () => {
    for (let n = 1, more = true; more; n++) {
      const disk = simDisk();
      const failing = crashDisk(disk, n, 'ENOSPC');
      const one = on(failing, { partBytes: 700 });
      for (let i = 0; i < 5; i++) {
        const batch = [note(`n${i}-a`), note(`n${i}-b`)];
        await one.tell(batch, { durable: true }).catch(() => one.tell(batch, { durable: true }));
      }
      more = failing.count() >= n;
      for (const each of [one, on(disk)])
        assert.deepEqual(
          idsOf(each.read('news')),
          ['n0-a', 'n0-b', 'n1-a', 'n1-b', 'n2-a', 'n2-b', 'n3-a', 'n3-b', 'n4-a', 'n4-b'],
          `change ${n}`,
        );
    }
  });

  function check(disk: SimDisk, { told, done }: { told: string[]; done: string[] }, when: string): void {
    const there = idsOf(on(disk).read('news'));
    assert.equal(new Set(there).size, there.length, `${when}: twice`);
    for (const id of told) assert.ok(there.includes(id), `${when}: ${id} is lost`);
    const unread = new Set(idsOf(on(disk).unread('news', 'bob')));
    for (const id of told) assert.ok(unread.has(id) || done.includes(id) || isTaken(disk, id), `${when}: ${id}`);
  }

  /** Its cursor moved, and the process died before it could say so. */
  function isTaken(disk: SimDisk, id: string): boolean {
    return !idsOf(on(disk).unread('news', 'bob')).includes(id) && idsOf(on(disk).unread('news', 'cleo')).includes(id);
  }
});
