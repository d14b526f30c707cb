/** The stamps of the last commit survive a restart, however many records follow their table. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { PLAIN, stamps } from '../../../src/adapters/git/changes/stamps.js';

const MINUTE = 29_000_000;
const commit = (n: number): string => n.toString(16).padStart(40, 'a');
const name = (n: number): string => `results/task-${n}.md`;

function newFile(t: test.TestContext): string {
  const folder = tempFolder('stamps', t);
  return path.join(folder, 'stamps');
}

test('a table, and what changed after it was written, are loaded again', (t) => {
  const file = newFile(t);
  const first = stamps(file);
  for (let n = 0; n < 500; n++) first.set(name(n), { stamp: n + 1, minute: MINUTE + (n % 3) });
  first.set('guild.yaml', { stamp: 7, minute: PLAIN });
  first.save(commit(1));
  const second = stamps(file);
  second.set(name(3), { stamp: 99, minute: MINUTE });
  second.remove(name(4));
  second.set(name(500), { stamp: 5, minute: MINUTE + 9 });
  second.save(commit(2));
  const third = stamps(file);
  assert.equal(third.commit(), commit(2).slice(0, 16));
  assert.deepEqual(third.get(name(3)), { stamp: 99, minute: MINUTE });
  assert.equal(third.get(name(4)), undefined);
  assert.deepEqual(third.get(name(499)), { stamp: 500, minute: MINUTE + 1 });
  assert.deepEqual([third.count('timed'), third.count('plain')], [500, 1]);
  assert.deepEqual([...third.minutes(MINUTE + 2)].toSorted(), [
    [MINUTE + 2, 166],
    [MINUTE + 9, 1],
  ]);
});

test('many records after the table become a new table', (t) => {
  const file = newFile(t);
  const known = stamps(file);
  known.save(commit(1));
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 5000; n++) known.set(name(n), { stamp: round + 1, minute: MINUTE });
    known.save(commit(2 + round));
  }
  assert.ok(fs.statSync(file).size < 3 * 5000 * 16, 'the file has no record twice');
  const again = stamps(file);
  assert.equal(again.count('timed'), 5000);
  assert.deepEqual(again.get(name(4999)), { stamp: 3, minute: MINUTE });
});

test('the file of an older version, which is records only, is read', (t) => {
  const file = newFile(t);
  const known = stamps(file);
  known.save(commit(1));
  const before = fs.statSync(file).size;
  known.set(name(1), { stamp: 8, minute: MINUTE });
  known.save(commit(2));
  fs.writeFileSync(file, fs.readFileSync(file).subarray(before));
  assert.equal(stamps(file).commit(), commit(2).slice(0, 16));
  assert.deepEqual(stamps(file).get(name(1)), { stamp: 8, minute: MINUTE });
});

test('a table of which a part is missing counts as no table', (t) => {
  const file = newFile(t);
  const known = stamps(file);
  for (let n = 0; n < 100; n++) known.set(name(n), { stamp: 1, minute: MINUTE });
  known.save(commit(1));
  fs.truncateSync(file, 16 * 40);
  assert.equal(stamps(file).commit(), '');
  assert.equal(stamps(file).count('timed'), 0);
});
