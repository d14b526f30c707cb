/** What was said is kept until its conversation has a file, and no longer than that; what people want is found on any disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layout } from '../../src/adapters/files/layout.js';
import { recordVerbs } from '../../src/adapters/files/records.js';
import { said } from '../../src/adapters/files/said.js';
import { writing } from '../../src/adapters/files/writing.js';
import type { Disk } from '../../src/ports/disk.js';
import { simDisk } from '../kit/sim-disk.js';

const l = layout('/w');

test('where there is always one that has no file, what was said of the others goes all the same', () => {
  const disk = simDisk();
  const write = writing(disk, l, 'me', () => undefined);
  const kept = said(disk, l, write, 'me');
  const long = 'x'.repeat(1000);
  for (let i = 0; i < 2000; i++) {
    kept.keep(`s${i}`, long);
    kept.settled([[`s${i}`, long]]);
  }
  const { length } = disk.tree().get(`${l.said}/me.jsonl`)!;
  assert.ok(length < 300 * 1024, `${length} bytes`);
  kept.keep('last', 'Goodbye');
  assert.equal(said(disk, l, write, 'other').adopt('me') > 0, true);
  for (const id of ['s1999', 'last']) assert.notEqual(disk.stamp(l.session(id)), undefined, id);
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
