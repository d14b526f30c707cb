/** The first lines of a file that several processes append to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendOrCreate } from '../../../../src/adapters/files/base/append-or-create.js';
import { crashDisk, suspended } from '../../../kit/crash-disk.js';
import { simDisk } from '../../../kit/sim-disk.js';

const FILE = '/events/today.jsonl';

test('the lines of two processes that create the file at the same time are both there', () => {
  for (let n = 1, isOver = false; !isOver; n++) {
    const disk = simDisk();
    for (const folder of ['/events', '/tmp']) disk.makeFolder(folder);
    const own = suspended(disk, n, () => appendOrCreate(disk, FILE, 'theirs\n', '/tmp/b'));
    appendOrCreate(own.disk, FILE, 'ours\n', '/tmp/a');
    isOver = own.isOver();
    const lines = disk.tree().get(FILE)!.split('\n').sort();
    assert.deepEqual(lines, isOver ? ['', 'ours'] : ['', 'ours', 'theirs'], `suspended before call ${n}`);
    assert.deepEqual([...disk.tree().keys()], [FILE]);
  }
});

test('a process that dies while it creates the file leaves a whole line or no line', () => {
  for (let n = 1, isDead = true; isDead; n++) {
    const disk = simDisk();
    for (const folder of ['/events', '/tmp']) disk.makeFolder(folder);
    try {
      appendOrCreate(crashDisk(disk, n), FILE, 'a long line\n', '/tmp/a');
      isDead = false;
    } catch {
      assert.ok([undefined, 'a long line\n'].includes(disk.tree().get(FILE)), `change ${n}`);
    }
  }
});
