/** The journal keeps content until its file is written, and no longer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journal, keyOf, pageLine, type Journal, type Line } from '../../../src/adapters/files/journal.js';
import { folders, layout } from '../../../src/adapters/files/base/layout.js';
import { intents } from '../../../src/adapters/files/records/intents.js';
import { atomicWrite, type AtomicWrite } from '../../../src/adapters/files/base/atomic-write.js';
import type { Disk } from '../../../src/ports/disk.js';
import { crashDisk, Died, type CrashDisk } from '../../kit/crash-disk.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { seeded } from '../../kit/sim-processes.js';

const l = layout('/w');

function desk(disk = simDisk()): { disk: SimDisk; kept: Journal; other: Journal } {
  const write = (who: string): AtomicWrite => atomicWrite(disk, l, who, () => undefined);
  for (const folder of folders(l)) disk.makeFolder(folder);
  return { disk, kept: journal(disk, l, write('me'), 'me'), other: journal(disk, l, write('other'), 'other') };
}

function said(session: string, text: string): Line {
  return { id: keyOf(session), session, text };
}

function ended(id: string, text = '{}'): Line {
  return { id, state: 'completed', text };
}

test('old journal files are deleted even if there is always one line without a file', async () => {
  const { disk, kept, other } = desk();
  const long = 'x'.repeat(1000);
  for (let i = 0; i < 2000; i++) {
    kept.add(said(`s${i}`, long));
    if (i > 0) kept.arrived(keyOf(`s${i - 1}`));
    await kept.settle();
  }
  const bytes = disk.list(l.journal).reduce((sum, name) => sum + disk.tree().get(`${l.journal}/${name}`)!.length, 0);
  assert.ok(bytes < 700 * 1024, `${bytes} bytes`);
  kept.add(said('last', 'Goodbye'));
  assert.equal(other.adopt('me'), 2);
  for (const id of ['s1999', 'last']) assert.notEqual(disk.stamp(l.session(id)), undefined, id);
});

test('files of a dead process are written from its journal, and deleted files are not restored', async () => {
  const { disk, kept, other } = desk();
  await kept.keep([said('a-t', 'Hello'), ended('t.a'), ended('t.b'), ended('t.c')]);
  kept.arrived('t.b');
  await kept.settle();
  disk.save(l.task('pending', 't.c'), '{}');
  assert.deepEqual(other.others(), ['me']);
  assert.equal(other.adopt('me'), 1);
  assert.deepEqual(disk.list(l.tasks('completed')), ['t.a.json'], 't.b had its file, t.c was opened again');
  assert.equal(disk.tree().get(l.session('a-t')), 'Hello');
  assert.equal(other.adopt('me'), 1, 'reported again, created once');
  assert.deepEqual(other.others(), []);
});

test('lines written after others took the process for dead are adopted when it dies', async () => {
  const { disk, kept, other } = desk();
  kept.add(said('a', 'Hello'));
  assert.equal(other.adopt('me'), 1);
  kept.begin();
  await kept.keep([said('b', 'I live')]);
  assert.deepEqual(disk.list(l.journal), ['me.2.jsonl']);
  assert.equal(other.adopt('me'), 2);
  assert.equal(disk.tree().get(l.session('b')), 'I live');
});

test('an end counts if a power cut undid only its claim, unless the task was retried', async () => {
  const { disk, kept, other } = desk();
  const [claimed, again] = [l.task('pending', 't'), l.task('pending', 'u')];
  disk.save(claimed, '{"description": "t"}');
  disk.save(again, '{"description": "u"}');
  await kept.keep([
    { ...ended('t'), of: disk.stamp(claimed) },
    { ...ended('u'), of: disk.stamp(again) },
  ] as Line[]);
  disk.save(again, '{"description": "u"}');
  other.adopt('me');
  assert.deepEqual(disk.list(l.tasks('completed')), ['t.json']);
  assert.deepEqual(disk.list(l.tasks('pending')), ['u.json']);
});

test('journaled content survives a power cut, and another one after adoption', async () => {
  for (let seed = 0; seed < 40; seed++) {
    const { disk, kept } = desk();
    await kept.keep([ended('t.a', 'A')]);
    kept.add(ended('t.b', 'B'));
    disk.powerCut(seeded(seed));
    desk(disk).other.adopt('me');
    disk.powerCut(seeded(seed + 1000));
    desk(disk).other.adopt('me');
    assert.equal(disk.tree().get(l.task('completed', 't.a')), 'A', `seed ${seed}`);
    assert.ok(['B', undefined].includes(disk.tree().get(l.task('completed', 't.b'))), `seed ${seed}`);
  }
});

test('content journaled again during a sync of names does not count as written', async () => {
  const { disk, kept, other } = desk();
  await kept.keep([ended('t', 'first')]);
  kept.arrived('t');
  const settled = kept.settle();
  await kept.keep([ended('t', 'second')]);
  await settled;
  other.adopt('me');
  assert.equal(disk.tree().get(l.task('completed', 't')), 'second');
});

test('a line torn by a full disk does not affect later lines', async () => {
  const real = simDisk();
  let isFull = false;
  const appendOwn: Disk['appendOwn'] = (file, bytes) => {
    real.append(file, isFull ? Buffer.from(bytes).subarray(0, 10) : bytes);
    if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  };
  const { disk, kept, other } = desk({ ...real, appendOwn });
  await kept.keep([ended('t.a', 'A')]);
  isFull = true;
  assert.throws(() => kept.add(ended('t.b', 'B')), /ENOSPC/);
  isFull = false;
  await kept.keep([ended('t.c', 'C')]);
  other.adopt('me');
  assert.deepEqual(disk.list(l.tasks('completed')).sort(), ['t.a.json', 't.c.json']);
});

test('bytes of a failed sync count as lost, whatever a later sync returns', async () => {
  const real = simDisk();
  let fails = 0;
  const failing =
    (sync: Disk['sync']): Disk['sync'] =>
    async (file) => {
      if (fails-- > 0) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await sync(file);
    };
  const { disk, kept, other } = desk({ ...real, sync: failing(real.sync), syncFolder: failing(real.syncFolder) });
  await kept.keep([ended('t')]);
  kept.arrived('t');
  fails = 1;
  await assert.rejects(kept.settle(), /EIO/);
  await assert.rejects(kept.settle(), /EIO/);
  fails = 1;
  kept.add(said('a-u', 'Hello'));
  await assert.rejects(kept.keep([ended('u')]), /EIO/);
  await assert.rejects(kept.keep([ended('v')]), /EIO/);
  other.adopt('me');
  assert.notEqual(disk.stamp(l.task('completed', 't')), undefined);
});

test('a result page is written whatever a power cut left of it or of an earlier page', async () => {
  const before = 'This task failed';
  const text = '# Plan\n\nWrite the brief.\n';
  const torn = Buffer.concat([Buffer.from(text.slice(0, 9)), Buffer.alloc(text.length - 9)]).toString();
  for (const left of [undefined, before, '', text.slice(0, 9), torn, text]) {
    const { disk, kept, other } = desk();
    disk.save(l.result('t'), before);
    await kept.keep([ended('t'), pageLine('t', text, disk.stamp(l.result('t')))]);
    disk.save(l.task('completed', 't'), '{}');
    kept.arrived('t');
    await kept.settle();
    if (left === undefined) disk.remove(l.result('t'));
    else if (left !== before) disk.save(l.result('t'), left);
    other.adopt('me');
    disk.powerCut(() => 0);
    assert.equal(disk.tree().get(l.result('t')), text, JSON.stringify(left));
  }
});

test('a page that a person edited stays, and so does the page of a later end', async () => {
  const { disk, kept, other } = desk();
  await kept.keep([ended('t', 'end 1'), pageLine('t', 'Page 1', undefined)]);
  disk.save(l.task('completed', 't'), 'end 1');
  disk.save(l.result('t'), 'Page 1, which I like');
  await kept.keep([ended('u', 'end 1'), pageLine('u', 'Page 1', undefined)]);
  disk.save(l.task('completed', 'u'), 'end 2');
  disk.save(l.result('u'), 'Page 2');
  await kept.keep([ended('v', 'end 1'), pageLine('v', 'Page 1', undefined)]);
  disk.save(l.task('pending', 'v'), 'once more');
  other.adopt('me');
  assert.equal(disk.tree().get(l.result('t')), 'Page 1, which I like');
  assert.equal(disk.tree().get(l.result('u')), 'Page 2');
  assert.equal(disk.tree().get(l.result('v')), undefined);
});

test('two processes adopt one journal, one dies halfway, and every file exists once', async () => {
  for (let n = 1, isOver = false; !isOver; n++) {
    for (const how of ['dies', 'is overtaken', 'is overtaken and dies']) {
      const { disk, kept, other } = desk();
      for (const line of [said('a-t', 'Hello'), pageLine('t', 'Page', undefined), ended('t.a', 'A'), ended('t', 'T')])
        kept.add(line);
      disk.save(l.result('t'), 'Pa');
      const busy = crashDisk(disk, how.endsWith('dies') ? n : Infinity);
      const third = how === 'dies' ? busy : interrupted(busy, n, () => void other.adopt('me'));
      try {
        journal(
          third,
          l,
          atomicWrite(third, l, 'third', () => undefined),
          'third',
        ).adopt('me');
        isOver = busy.count() < n;
      } catch (thrown) {
        if (!(thrown instanceof Died)) throw thrown;
      }
      const isBegun = disk.list(l.tasks('completed')).length > 0;
      disk.powerCut(seeded(n));
      desk(disk).other.adopt('me');
      if (!isBegun) continue; // nothing was acknowledged, and the power cut may have lost all of it
      const tree = disk.tree();
      const names = [l.session('a-t'), l.task('completed', 't.a'), l.task('completed', 't'), l.result('t')];
      assert.deepEqual(
        names.map((file) => tree.get(file)),
        ['Hello', 'A', 'T', 'Page'],
        `${how} at change ${n}`,
      );
      assert.deepEqual(disk.list(l.journal), []);
    }
  }
});

test('other files in the journal folder are left alone, and a journal of any size is read', async () => {
  const real = simDisk();
  const { disk, kept, other } = desk({ ...real, read: (file, most = 1000) => real.read(file, most) });
  disk.makeFolder(`${l.journal}/old`);
  disk.save(`${l.journal}/.DS_Store`, 'x');
  await kept.keep([ended('t', 'x'.repeat(2000))]);
  assert.deepEqual(other.others(), ['me']);
  other.adopt('me');
  assert.equal(disk.tree().get(l.task('completed', 't'))?.length, 2000);
  assert.deepEqual(disk.list(l.journal).sort(), ['.DS_Store', 'old']);
});

test('an intent is found even if the time of its folder does not change', async () => {
  const real = simDisk();
  const disk: Disk = { ...real, stamp: (file) => (file === l.intents ? '0.0.0.0' : real.stamp(file)) };
  let at = Date.parse('2026-01-01T00:00:00.000Z');
  const write = atomicWrite(disk, l, 'me', () => undefined);
  const { submit, list } = intents(disk, l, write, () => new Date(at));
  assert.deepEqual(await list(), []);
  await submit({ kind: 'stop', id: 'i', task: 't', by: 'human', at: '2026-01-01T00:00:00.000Z' });
  at += 1000;
  assert.equal((await list()).length, 1);
});

/** Another process acts right before change `n`, at which this one dies. */
function interrupted(disk: CrashDisk, n: number, other: () => void): Disk {
  const own = { ...disk } as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const name of ['create', 'rename', 'link', 'remove', 'syncNow']) {
    const call = own[name]!;
    own[name] = (...given) => {
      if (disk.count() === n - 1) other();
      if (name === 'syncNow' && disk.stamp(given[0] as string) === undefined) throw new Error('ENOENT');
      return call(...given);
    };
  }
  return own as unknown as Disk;
}
