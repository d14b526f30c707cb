/**
 * Within one turn of the event loop, all callers share one look at a file that others may change.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { clock } from '../../../src/adapters/clock/index.js';
import { disk as realDisk } from '../../../src/adapters/disk/index.js';
import { atomicWrite } from '../../../src/adapters/files/base/atomic-write.js';
import { folders, layout } from '../../../src/adapters/files/base/layout.js';
import { intents } from '../../../src/adapters/files/records/intents.js';
import { PAUSED, pauses } from '../../../src/adapters/pauses/index.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function folder(t: TestContext): string {
  const root = tempFolder('glance', t);
  return root;
}

/** Counts the system calls for this path. */
function looksAt(t: TestContext, file: string): () => number {
  const { mock } = t.mock.method(fs, 'lstatSync');
  return () => mock.calls.filter((call) => call.arguments[0] === file).length;
}

test('a glance is one look in a turn, and the next turn sees what others did', async (t) => {
  const root = folder(t);
  const disk = realDisk();
  const looks = looksAt(t, root);
  await turn();
  const before = disk.glance(root);
  fs.writeFileSync(path.join(root, 'others'), 'x');
  for (let i = 0; i < 100; i++) assert.equal(disk.glance(root), before);
  assert.equal(looks(), 1);
  await turn();
  assert.notEqual(disk.glance(root), before);
  assert.equal(looks(), 2);
});

test('a glance shows the changes of this process at once', async (t) => {
  const root = folder(t);
  const disk = realDisk();
  const file = path.join(root, 'own');
  const changes: [string, () => unknown][] = [
    ['create', () => disk.create(file, 'x')],
    ['append', () => disk.append(file, 'y')],
    ['patch', () => disk.patch(file, 0, 'z')],
    ['rename', () => disk.rename(file, `${file}2`)],
    ['link', () => disk.link(`${file}2`, file)],
    ['remove', () => disk.remove(file)],
    ['createSynced', () => disk.createSynced(file, 'x')],
  ];
  for (const [name, change] of changes) {
    disk.glance(root);
    disk.glance(file);
    await change();
    assert.equal(disk.glance(root), disk.stamp(root), name);
    assert.equal(disk.glance(file), disk.stamp(file), name);
  }
});

test('a thousand questions for intents and pauses in one turn look at each folder once', async (t) => {
  const root = folder(t);
  const disk = realDisk();
  const l = layout(root);
  for (const each of folders(l)) disk.makeFolder(each);
  disk.makeFolder(path.join(root, PAUSED));
  const old = new Date(Date.now() - 60_000);
  for (const each of [l.intents, path.join(root, PAUSED)]) fs.utimesSync(each, old, old);
  const { list, submit } = intents({
    disk,
    layout: l,
    write: atomicWrite(disk, l, 'me', () => undefined),
    journal: { durable: async () => undefined },
    now: () => new Date(),
    isJoined: () => false,
  });
  const paused = pauses({ root, disk, clock: clock() });
  await turn();
  const [intentLooks, pauseLooks] = [looksAt(t, l.intents), looksAt(t, path.join(root, PAUSED))];
  for (let i = 0; i < 1000; i++) {
    assert.deepEqual(await list(), []);
    assert.equal(paused.isPaused('ana'), false);
  }
  assert.equal(intentLooks(), 1);
  assert.equal(pauseLooks(), 1);
  await submit({ kind: 'stop', id: 'i', task: 't', by: 'human', at: '2026-01-01T00:00:00.000Z' });
  assert.equal((await list()).length, 1);
  fs.writeFileSync(path.join(root, PAUSED, 'ana'), 'ill');
  await turn();
  assert.equal(paused.isPaused('ana'), true);
  assert.deepEqual([...paused.look()], [['ana', 'ill']]);
});

test('a file that often grows stays open, and one that was deleted or replaced is noticed in the next turn', async (t) => {
  const root = folder(t);
  const disk = realDisk();
  const file = path.join(root, 'notes.jsonl');
  const read = (): string => fs.readFileSync(file, 'utf8');
  disk.create(file, '');
  const { mock } = t.mock.method(fs, 'openSync');
  for (let i = 0; i < 10; i++) {
    assert.equal(disk.append(file, `${i}\n`), disk.stamp(file));
    await turn();
  }
  assert.equal(mock.callCount(), 1);
  assert.equal(read(), '0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n');
  fs.writeFileSync(`${file}.new`, 'edited\n');
  fs.renameSync(`${file}.new`, file);
  disk.append(file, 'a\n');
  assert.equal(read(), 'edited\na\n');
  await turn();
  fs.rmSync(file);
  assert.throws(() => disk.append(file, 'b\n'), { code: 'ENOENT' });
  disk.create(file, '');
  disk.append(file, 'c\n');
  assert.equal(read(), 'c\n');
  for (let i = 0; i < 20; i++) {
    disk.create(`${file}${i}`, '');
    disk.append(`${file}${i}`, 'x');
  }
  disk.append(file, 'd\n');
  assert.equal(read(), 'c\nd\n', 'the least recently used is closed and opened again');
});
