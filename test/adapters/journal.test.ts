/** What has no file yet is kept until it has one, and no longer than that; what people want is found on any disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journal, keyOf, type Journal, type Line } from '../../src/adapters/files/journal.js';
import { folders, layout } from '../../src/adapters/files/layout.js';
import { recordVerbs } from '../../src/adapters/files/records.js';
import { writing, type Writing } from '../../src/adapters/files/writing.js';
import type { Disk } from '../../src/ports/disk.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';

const l = layout('/w');

function desk(disk = simDisk()): { disk: SimDisk; kept: Journal; other: Journal } {
  const write = (who: string): Writing => writing(disk, l, who, () => undefined);
  for (const folder of folders(l)) disk.makeFolder(folder);
  return { disk, kept: journal(disk, l, write('me'), 'me'), other: journal(disk, l, write('other'), 'other') };
}

function said(session: string, text: string): Line {
  return { id: keyOf(session), session, text };
}

function ended(id: string, text = '{}'): Line {
  return { id, state: 'completed', text };
}

test('where there is always one that has no file, what was said of the others goes all the same', async () => {
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

test('what a dead process kept is made, and what had its file and was taken away stays away', async () => {
  const { disk, kept, other } = desk();
  await kept.keep([said('a-t', 'Hello'), ended('t.a'), ended('t.b'), ended('t.c')]);
  kept.arrived('t.b');
  await kept.settle();
  disk.save(l.task('pending', 't.c'), '{}');
  assert.deepEqual(other.others(), ['me']);
  assert.equal(other.adopt('me'), 1);
  assert.deepEqual(disk.list(l.tasks('completed')), ['t.a.json'], 't.b had its file, t.c was opened again');
  assert.equal(disk.tree().get(l.session('a-t')), 'Hello');
  assert.equal(other.adopt('me'), 1, 'told again, made once');
  assert.deepEqual(other.others(), []);
});

test('what was kept outlives a power cut, and another after somebody made its files', async () => {
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

test('an intent is found where the time of a folder tells nothing', async () => {
  const real = simDisk();
  const disk: Disk = { ...real, stamp: (file) => (file === l.intents ? '0.0.0.0' : real.stamp(file)) };
  let at = Date.parse('2026-01-01T00:00:00.000Z');
  const write = writing(disk, l, 'me', () => undefined);
  const { submit, intents } = recordVerbs(disk, l, write, () => new Date(at));
  assert.deepEqual(intents(), []);
  await submit({ kind: 'stop', id: 'i', task: 't', by: 'human', at: '2026-01-01T00:00:00.000Z' });
  at += 1000;
  assert.equal(intents().length, 1);
});
