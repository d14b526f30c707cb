/** The file bus keeps its notes through manual edits, crashes and power cuts. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { fc } from '../kit/properties.js';
import { bus, type BusOptions } from '../../src/adapters/bus/index.js';
import { createChannel, newest } from '../../src/adapters/bus/channel.js';
import { segmentFiles } from '../../src/adapters/bus/segment-files.js';
import { clock as realClock } from '../../src/adapters/clock/index.js';
import { disk as realDisk } from '../../src/adapters/disk/index.js';
import type { Note } from '../../src/domain/coordination/note.js';
import type { NearBus } from '../../src/ports/bus.js';
import type { Disk } from '../../src/ports/disk.js';
import { printNote } from '../../src/text/records/note.js';
import { note } from '../contract/bus.js';
import { crashDisk } from '../kit/crash-disk.js';
import { simClock } from '../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';

const FILE = '/w/bus/news.jsonl';
const clock = simClock();
const openBus = (disk: Disk, more: Partial<BusOptions> = {}): NearBus => bus({ root: '/w', disk, clock, ...more });
const idsOf = (notes: readonly Note[]): string[] => notes.map((note) => note.id);
const textOf = (disk: SimDisk, file = FILE): string => disk.tree().get(file) ?? '';

describe('manual edits', () => {
  test('a note is one line of its channel file', async () => {
    const disk = simDisk();
    await openBus(disk).tell([
      note('a', { to: 'bob', task: 't', priority: 'high', expires: '2027-01-01T00:00:00.000Z' }),
    ]);
    assert.equal(
      textOf(disk),
      '{"id":"a","at":"2026-01-01T00:00:00.000Z","from":"ana","priority":"high","to":"bob","task":"t","expires":"2027-01-01T00:00:00.000Z","body":{"type":"said","text":"This is a."}}\n',
    );
  });

  test('a line added by hand is a note from the human; bad lines are reported once and skipped', async () => {
    const disk = simDisk();
    const first = openBus(disk);
    await first.tell([note('a')]);
    disk.append(FILE, '{"text": "from me", "priority": "critical"}\nnot json\n{"id":"c"}\n[1]\n');
    await first.tell([note('b')]);
    const [hand, ...rest] = first.unread('news', 'bob');
    assert.deepEqual([hand!.from, hand!.body], ['human', { type: 'said', text: 'from me' }]);
    assert.deepEqual(idsOf(rest), ['a', 'b']);
    const problems = first.refresh();
    assert.deepEqual(
      problems.map(({ code, where }) => [code, where?.file, where?.line]),
      [
        ['bad_file', 'bus/news.jsonl', 3],
        ['bad_field', 'bus/news.jsonl', 4],
        ['bad_field', 'bus/news.jsonl', 5],
      ],
    );
    assert.deepEqual(first.refresh(), []);
    await first.done('news', 'bob', [hand!.id, 'a']);
    assert.deepEqual(idsOf(openBus(disk).unread('news', 'bob')), ['b'], 'a line without an id is recognised');
  });

  test('a note whose fields do not fit its type is reported and reaches no reader', async () => {
    const disk = simDisk();
    const first = openBus(disk);
    await first.tell([note('a')]);
    const bodies = [
      { type: 'rumour' },
      { type: 'constructor' },
      { type: 'help_request', requester: 'ana' },
      { type: 'deadlock', cycle: [1] },
    ];
    for (const body of bodies) disk.append(FILE, `${JSON.stringify({ body })}\n`);
    assert.deepEqual(
      first.refresh().map(({ message }) => message),
      [
        '"rumour" is not a type of note',
        '"constructor" is not a type of note',
        'a note of type "help_request" needs a valid "taskContext"',
        'a note of type "deadlock" needs a valid "cycle"',
      ],
    );
    assert.deepEqual(idsOf(first.read('news')), ['a']);
  });

  test('after an editor rewrites the file, new lines are delivered and read notes stay read', async () => {
    const disk = simDisk();
    const first = openBus(disk);
    const heard: string[] = [];
    first.subscribe('news', ({ id }) => heard.push(id));
    await first.tell([note('a'), note('b'), note('c')]);
    await first.done('news', 'bob', ['a', 'b']);
    const lines = textOf(disk).split('\n');
    disk.save(FILE, [lines[1], lines[2], '{"id":"x","text":"by hand"}', ''].join('\n'));
    assert.deepEqual(idsOf(first.unread('news', 'bob')), ['c', 'x']);
    await first.tell([note('d')]);
    assert.deepEqual(heard, ['a', 'b', 'c', 'x', 'd']);
    assert.deepEqual(idsOf(openBus(disk).read('news')), ['b', 'c', 'x', 'd']);
    assert.deepEqual(idsOf(openBus(disk).unread('news', 'bob')), ['c', 'x', 'd']);
  });

  test('a last line without a newline is not read yet', async () => {
    const disk = simDisk();
    const first = openBus(disk);
    await first.tell([note('a')]);
    disk.append(FILE, '{"id":"x","text":"half ');
    assert.deepEqual(idsOf(first.read('news')), ['a']);
    disk.append(FILE, 'and half"}\n');
    assert.deepEqual(idsOf(first.read('news')), ['a', 'x']);
    assert.deepEqual(first.refresh(), []);
  });

  test('a note written after a torn line starts on a new line', async () => {
    const disk = simDisk();
    const first = openBus(disk);
    await first.tell([note('a')]);
    disk.append(FILE, '{"id":"x","text":"ha');
    await openBus(disk).tell([note('b')]);
    await first.tell([note('c')]);
    for (const instance of [first, openBus(disk)]) assert.deepEqual(idsOf(instance.read('news')), ['a', 'b', 'c']);
    assert.equal(openBus(disk).refresh().length, 0, 'no channel is open yet');
    assert.equal(first.refresh().length, 1);
  });

  test('a note glued to the torn line of a dead writer is written again', async () => {
    const disk = simDisk();
    await openBus(disk).tell([note('a')]);
    let torn = false;
    const unlucky: Disk = {
      ...disk,
      append(file, bytes) {
        if (!torn) disk.append(file, '{"id":"x","te');
        torn = true;
        return disk.append(file, bytes);
      },
    };
    const first = openBus(unlucky);
    await first.tell([note('b'), note('c')]);
    for (const instance of [first, openBus(disk)])
      assert.deepEqual(idsOf(instance.read('news')).sort(), ['a', 'b', 'c']);
  });

  test('after a cursor is lost or torn, its notes are read again', async () => {
    const disk = simDisk();
    await openBus(disk).tell([note('a'), note('b')]);
    await openBus(disk).done('news', 'bob', ['a']);
    const cursor = [...disk.tree().keys()].find((file) => file.startsWith('/w/.guild/bus/'))!;
    disk.save(cursor, '{"reader":"bob","par');
    assert.deepEqual(idsOf(openBus(disk).unread('news', 'bob')), ['a', 'b']);
    disk.remove(cursor);
    assert.deepEqual(idsOf(openBus(disk).unread('news', 'bob')), ['a', 'b']);
  });

  test('after its file is deleted, the channel starts empty for every process', async () => {
    const disk = simDisk();
    const first = openBus(disk);
    await first.tell([note('a')]);
    disk.remove(FILE);
    await first.tell([note('b')]);
    for (const instance of [first, openBus(disk)]) assert.deepEqual(idsOf(instance.read('news')), ['b']);
  });
});

describe('full files', () => {
  const small = { segmentBytes: 1000 };

  test('a channel continues in a new file, and files with only expired notes are removed', async () => {
    const disk = simDisk();
    const now = simClock();
    const first = bus({ root: '/w', disk, clock: now, ...small });
    const other = bus({ root: '/w', disk, clock: now, ...small });
    const at = (ms: number): string => new Date(now.now().getTime() + ms).toISOString();
    for (let n = 0; n < 40; n++) await first.tell([note(`n${n}`, { expires: at(n < 20 ? 1000 : 100_000) })]);
    const files = (): number => disk.list('/w/bus').length;
    assert.equal(other.read('news').length, 40);
    const before = files();
    assert.ok(before > 5, `${before} files`);
    await now.advance(2000);
    assert.equal(other.read('news').length, 20);
    assert.ok(files() < before);
    await first.tell([note('more', { expires: at(100_000) })]);
    assert.deepEqual(
      idsOf(bus({ root: '/w', disk, clock: now }).read('news')),
      idsOf(first.read('news')),
      'a later process reads the same',
    );
    assert.equal(first.read('news').length, 21);
  });

  test('concurrent writers at the end of a file lose no note, in any interleaving', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 40 }), async (interruptions) => {
        const disk = simDisk();
        const reader = openBus(disk, small);
        const [a, b] = [openBus(disk, small), openBus(disk, small)];
        const heard = new Set<string>();
        reader.subscribe('news', ({ id }) => heard.add(id));
        let n = 0;
        const written: string[] = [];
        // Between any two steps of one writer another may write and the reader may refresh.
        const interrupted = openBus(
          new Proxy(disk, {
            get(target, name: keyof Disk) {
              const call = target[name] as (...args: unknown[]) => unknown;
              if (typeof call !== 'function') return call;
              return (...args: unknown[]): unknown => {
                const action = interruptions.pop() ?? 0;
                if (action === 1) reader.refresh();
                if (action >= 2) {
                  const id = `b${n++}`;
                  written.push(id);
                  void (action === 2 ? a : b).tell([note(id, { body: { type: 'said', text: 'x'.repeat(300) } })]);
                }
                return call.apply(target, args);
              };
            },
          }),
          small,
        );
        for (let i = 0; i < 8; i++) {
          const id = `a${i}`;
          written.push(id);
          await interrupted.tell([note(id, { body: { type: 'said', text: 'y'.repeat(300) } })]);
        }
        reader.refresh();
        assert.deepEqual([...heard].sort(), written.sort());
        assert.deepEqual(idsOf(openBus(disk).read('news')).sort(), written);
      }),
      { numRuns: 150 },
    ));
});

describe('disk calls', () => {
  /** `asked` returns the calls since the last time, each with its file's name. */
  function counted(disk: Disk): { disk: Disk; asked: () => string[] } {
    const calls: string[] = [];
    const counting = new Proxy(disk, {
      get(target, name: keyof Disk) {
        const call = target[name] as (...args: unknown[]) => unknown;
        if (typeof call !== 'function') return call;
        return (...args: unknown[]): unknown => {
          calls.push(`${name} ${path.basename(String(args[0]))}`);
          return call.apply(target, args);
        };
      },
    });
    return { disk: counting, asked: () => calls.splice(0) };
  }

  test('a write takes one look and one append; refreshing an unchanged channel takes one look', async () => {
    const plain = simDisk();
    const { disk, asked } = counted(plain);
    const first = openBus(disk);
    await first.tell([note('a')]);
    asked();
    await first.tell([note('b'), note('c')]);
    assert.deepEqual(asked(), ['glance news.jsonl', 'append news.jsonl']);
    first.refresh();
    assert.deepEqual(asked(), ['glance news.jsonl']);
    first.unread('news', 'bob');
    assert.deepEqual(asked(), ['glance news.jsonl', 'stamp bob.json']);
    await first.done('news', 'bob', ['a']);
    asked();
    await first.done('news', 'bob', ['b']);
    assert.equal(asked().length, 5);
    await openBus(plain).tell([note('d')]);
    assert.deepEqual(idsOf(first.read('news')), ['a', 'b', 'c', 'd']);
    assert.deepEqual(asked(), ['glance news.jsonl', 'stamp news~2.jsonl', 'readFrom news.jsonl']);
  });

  test('a batch larger than a file is written in order, without the notes that are already there', async () => {
    const disk = simDisk();
    const first = openBus(disk, { segmentBytes: 1000 });
    await first.tell([note('n3'), note('n7')]);
    const all = [...Array(30).keys()].map((n) => note(`n${n}`, { body: { type: 'said', text: 'x'.repeat(200_000) } }));
    await first.tell([...all, all[5]!], { durable: true });
    const expected = ['n3', 'n7', ...idsOf(all).filter((id) => id !== 'n3' && id !== 'n7')];
    assert.equal(
      disk.list('/w/bus').length,
      2,
      'one append writes up to four megabytes; the rest goes to the next file',
    );
    for (const instance of [first, openBus(disk)]) assert.deepEqual(idsOf(instance.read('news')), expected);
  });

  test('deleted folders are recreated when a cursor is saved', async (t) => {
    const root = tempFolder('cursors', t);
    const join = (): NearBus => bus({ root, disk: realDisk(), clock });
    const first = join();
    await first.tell([note('a'), note('b'), note('c'), note('d')]);
    await first.done('news', 'bob', ['a']);
    fs.rmSync(path.join(root, '.guild', 'tmp'), { recursive: true });
    await first.done('news', 'bob', ['b']);
    assert.deepEqual(idsOf(join().unread('news', 'bob')), ['c', 'd']);
    fs.rmSync(path.join(root, '.guild', 'bus'), { recursive: true });
    await first.done('news', 'bob', ['c']);
    assert.deepEqual(idsOf(join().unread('news', 'bob')), ['d']);
  });
});

test('a successor that a person created too early is found by a thorough refresh or the next write', async () => {
  const disk = simDisk();
  const files = segmentFiles(
    disk,
    '/w',
    () => '2026-01-01T00:00:00.000Z',
    (finding) => assert.fail(finding.message),
  );
  const news = createChannel('news');
  await openBus(disk).tell([note('a')]);
  files.refresh(news);
  disk.create('/w/bus/news~2.jsonl', '{"id":"b","text":"by hand"}\n');
  files.refresh(news, true);
  assert.deepEqual(
    [...news.segmentOf],
    [
      ['a', 1],
      ['b', 2],
    ],
  );
  const late = openBus(disk);
  await late.tell([note('c')]);
  files.refresh(news);
  assert.equal(news.segmentOf.get('c'), 2);
});

describe('memory', () => {
  test('only the newest notes of a long channel stay in memory, and all can be read', async () => {
    const disk = simDisk();
    const problems: string[] = [];
    const now = (): string => '2026-01-01T00:00:00.000Z';
    const limits = { segmentBytes: 2000, maxLoaded: 30 };
    const files = segmentFiles(disk, '/w', now, (finding) => void problems.push(finding.message), limits);
    const news = createChannel('news');
    const all = Array.from({ length: 1000 }, (_, i) => note(`n${i}`));
    for (let i = 0; i < all.length; i += 10) {
      const ten = all.slice(i, i + 10);
      files.append(
        news,
        ten,
        ten.map((entry) => `${printNote(entry)}\n`),
      );
      // The segment of this line is evicted, so the line is not read again.
      if (i === 500) disk.append(FILE, 'not json\n');
      const loaded = news.segments.reduce((sum, segment) => sum + segment.notes.length, 0);
      assert.ok(loaded <= 50, `${loaded} notes in memory after ${i}`);
      assert.equal(news.segmentOf.size, loaded);
    }
    assert.deepEqual(newest(news, now()), all);
    assert.deepEqual(newest(news, now(), 3), all.slice(-3));
    const late = createChannel('news');
    files.refresh(late);
    assert.deepEqual(newest(late, now()), all, 'a later process reads all of them too');
    assert.ok(late.segmentOf.size <= 50, `${late.segmentOf.size} notes in memory`);
    assert.equal(problems.length, 1, 'reported once, by the process that reads from the start');
  });

  test('a line deleted from an evicted segment is skipped, and only that line', async () => {
    const disk = simDisk();
    const first = openBus(disk, { segmentBytes: 300, maxLoaded: 0 });
    for (let i = 0; i < 12; i++) await first.tell([note(`n${i}`)]);
    await first.done('news', 'bob', ['n0']);
    assert.match(textOf(disk), /"n0".*\n.*"n1".*\n.*"n2"/);
    disk.save(FILE, textOf(disk).replace(/^.*"n1".*\n/m, ''));
    const remaining = Array.from({ length: 10 }, (_, i) => `n${i + 2}`);
    assert.deepEqual(idsOf(first.unread('news', 'bob')), remaining);
    await first.done('news', 'bob', ['n2']);
    assert.deepEqual(idsOf(first.unread('news', 'bob')), remaining.slice(1));
  });

  test('a refresh checks only recently used channels; others are read again on demand', async () => {
    const disk = simDisk();
    let looks = 0;
    const counting: Disk = { ...disk, stamp: (file) => (looks++, disk.stamp(file)) };
    const first = openBus(counting, { maxIdle: 5 });
    const heard: string[] = [];
    first.subscribe('team/t0', (note) => heard.push(note.id));
    for (let i = 0; i < 200; i++) {
      await first.tell([note(`a${i}`, { channel: `team/t${i}` }), note(`b${i}`, { channel: `team/t${i}` })]);
      await first.done(`team/t${i}`, 'bob', [`a${i}`]);
    }
    disk.append('/w/bus/team/t7.jsonl', 'not json\n');
    looks = 0;
    first.refresh();
    assert.ok(looks <= 6, `${looks} looks`);
    assert.deepEqual(idsOf(first.unread('team/t7', 'bob')), ['b7']);
    assert.equal(first.refresh().length, 1);
    for (let i = 10; i < 30; i++) first.read(`team/t${i}`);
    assert.deepEqual(idsOf(first.read('team/t7')), ['a7', 'b7']);
    assert.deepEqual(first.refresh(), [], 'its bad line was reported before');
    await first.tell([note('a7', { channel: 'team/t7' }), note('c7', { channel: 'team/t7' })]);
    assert.deepEqual(idsOf(first.read('team/t7')), ['a7', 'b7', 'c7'], 'a note is not written twice');
    await openBus(disk).tell([note('c0', { channel: 'team/t0' })]);
    first.refresh();
    assert.deepEqual(heard, ['a0', 'b0', 'c0'], 'a subscribed channel stays in memory');
  });
});

describe('file events', () => {
  test('a following process gets notes of other processes, on plain and team channels', async (t) => {
    const root = tempFolder('hints', t);
    const [here, there] = [1, 2].map(() => bus({ root, disk: realDisk(), clock: realClock() })) as [NearBus, NearBus];
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
    assert.ok(![...heard].some((id) => id.startsWith('o')));
  });
});

describe('crashes', () => {
  /** Writes, reads and moves the cursor. Adds each acknowledged note to `acknowledged`. */
  async function work(disk: Disk, acknowledged: { written: string[]; done: string[] }): Promise<void> {
    const local = openBus(disk, { segmentBytes: 700 });
    for (let n = 0; n < 6; n++) {
      const batch = [note(`n${n}-a`), note(`n${n}-b`)];
      await local.tell(batch, { durable: true });
      acknowledged.written.push(...idsOf(batch));
      const [first] = local.unread('news', 'bob', 1);
      await local.done('news', 'bob', [first!.id]);
      acknowledged.done.push(first!.id);
    }
  }

  test('after a crash at any change, each note exists once and unread notes stay unread', async () => {
    for (let n = 1, more = true; more; n++) {
      const disk = simDisk();
      const acknowledged = { written: [] as string[], done: [] as string[] };
      const failing = crashDisk(disk, n);
      await work(failing, acknowledged).catch(() => undefined);
      more = failing.count() >= n;
      check(disk, acknowledged, `change ${n}`);
      await work(disk, acknowledged);
      check(disk, acknowledged, `change ${n}, again`);
      assert.equal(openBus(disk).read('news').length, 12);
    }
  });

  test('durable notes survive a power cut at any change', async () => {
    for (let seed = 1; seed <= 4; seed++)
      for (let n = 1, more = true; more; n++) {
        const disk = simDisk();
        const acknowledged = { written: [] as string[], done: [] as string[] };
        const failing = crashDisk(disk, n);
        await work(failing, acknowledged).catch(() => undefined);
        more = failing.count() >= n;
        disk.powerCut(seeded(seed * 1000 + n));
        check(disk, acknowledged, `power cut at ${n}, seed ${seed}`);
        await work(disk, acknowledged);
        check(disk, acknowledged, `power cut at ${n}, seed ${seed}, again`);
      }
  });

  test('after a full disk, writing the same batch again adds only the missing notes', async () => {
    for (let n = 1, more = true; more; n++) {
      const disk = simDisk();
      const failing = crashDisk(disk, n, 'ENOSPC');
      const first = openBus(failing, { segmentBytes: 700 });
      for (let i = 0; i < 5; i++) {
        const batch = [note(`n${i}-a`), note(`n${i}-b`)];
        await first.tell(batch, { durable: true }).catch(() => first.tell(batch, { durable: true }));
      }
      more = failing.count() >= n;
      for (const instance of [first, openBus(disk)])
        assert.deepEqual(
          idsOf(instance.read('news')),
          ['n0-a', 'n0-b', 'n1-a', 'n1-b', 'n2-a', 'n2-b', 'n3-a', 'n3-b', 'n4-a', 'n4-b'],
          `change ${n}`,
        );
    }
  });

  function check(disk: SimDisk, { written, done }: { written: string[]; done: string[] }, when: string): void {
    const stored = idsOf(openBus(disk).read('news'));
    assert.equal(new Set(stored).size, stored.length, `${when}: twice`);
    for (const id of written) assert.ok(stored.includes(id), `${when}: ${id} is lost`);
    const unread = new Set(idsOf(openBus(disk).unread('news', 'bob')));
    for (const id of written) assert.ok(unread.has(id) || done.includes(id) || isTaken(disk, id), `${when}: ${id}`);
  }

  /** Its cursor was saved, but the process died before it could acknowledge that. */
  function isTaken(disk: SimDisk, id: string): boolean {
    return (
      !idsOf(openBus(disk).unread('news', 'bob')).includes(id) &&
      idsOf(openBus(disk).unread('news', 'cleo')).includes(id)
    );
  }
});
