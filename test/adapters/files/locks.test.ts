/** Locks of a folder: a stale one passes to one task only. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { disk as realDisk } from '../../../src/adapters/disk/index.js';
import { layout } from '../../../src/adapters/files/base/layout.js';
import { locks } from '../../../src/adapters/files/locks.js';
import type { Disk } from '../../../src/ports/disk.js';
import type { Locks } from '../../../src/ports/store/locks.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-locks-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));
let count = 0;

function folder(): { file: string; open: Set<string>; of(peer: string, disk?: Disk): Locks } {
  const places = layout(path.join(root, String(++count)));
  for (const each of [places.turns, places.tmp]) fs.mkdirSync(each, { recursive: true });
  const open = new Set(['task_a', 'task_b', 'task_c', 'longer_task']);
  return {
    file: path.join(places.turns, 'talker'),
    open,
    of: (peer, disk = realDisk()) =>
      locks(
        disk,
        places,
        peer,
        (task) => open.has(task),
        () => undefined,
      ),
  };
}

for (const next of ['task_b', 'longer_task'])
  test(`the lock of an ended task passes to ${next}`, async () => {
    const { file, open, of } = folder();
    const mine = of('mine');
    assert.ok(await mine.acquire('talker', 'task_a'));
    assert.equal(await mine.acquire('talker', next), false, 'task_a holds it');
    open.delete('task_a');
    assert.ok(await mine.acquire('talker', next));
    assert.equal(fs.readFileSync(file, 'utf8'), `${next}\n`);
    assert.equal(await mine.holder('talker'), next);
    assert.deepEqual(fs.readdirSync(path.join(path.dirname(file), '../tmp')), []);
  });

for (const step of ['rename', 'patch', 'link'] as const)
  test(`one of two processes gets a stale lock if the other comes before the ${step}`, async () => {
    const { file, open, of } = folder();
    const theirs = of('theirs');
    await theirs.acquire('talker', 'task_a');
    open.delete('task_a');
    const plain = realDisk();
    let other: Promise<boolean> | undefined;
    const disk: Disk = {
      ...plain,
      [step]: (...args: never[]) => {
        other ??= theirs.acquire('talker', 'task_c');
        return (plain[step] as (...all: never[]) => unknown)(...args);
      },
    };
    const got = await of('mine', disk).acquire('talker', 'task_b');
    assert.equal(await other, true, 'the other process was first');
    assert.equal(got, false);
    assert.equal(fs.readFileSync(file, 'utf8'), 'task_c\n');
  });
