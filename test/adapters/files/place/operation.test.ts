/** Giving files their names: nothing is half-visible, and no file of another owner is replaced. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../../../kit/temp/folder.js';
import { disk as realDisk } from '../../../../src/adapters/disk/index.js';
import { claimOf } from '../../../../src/adapters/files/base/where-now.js';
import { executor, type Execute, type Operation } from '../../../../src/adapters/files/place/operation.js';
import type { Disk } from '../../../../src/ports/disk.js';
import { crashDisk } from '../../../kit/crash-disk.js';
import { simDisk, type SimDisk } from '../../../kit/sim-disk.js';

const CLAIM = '/active/t_ana-peer0001.json';

function ground(files: Record<string, string>): { disk: SimDisk; execute: Execute; changes: string[] } {
  const disk = simDisk();
  for (const folder of ['/tmp', '/active', '/pending', '/completed', '/failed', '/evidence', '/results'])
    disk.makeFolder(folder);
  for (const [file, text] of Object.entries(files)) disk.create(file, text);
  const changes: string[] = [];
  const noting: Disk = {
    ...disk,
    rename: (from, to) => (changes.push(to), disk.rename(from, to)),
  };
  return { disk, execute: executor(noting, '/tmp', 'p'), changes };
}

const END: Operation = {
  from: CLAIM,
  to: '/completed/t.json',
  text: 'new',
  others: ['/completed/t.json', '/failed/t.json'],
  evidence: '/evidence/t',
  page: { file: '/results/t.md', text: 'page' },
  isEnd: true,
};

test('an end has its page before its record, and no file changes its content', () => {
  const { disk, execute, changes } = ground({ [CLAIM]: 'old' });
  assert.equal(execute(END).kind, 'placed');
  assert.deepEqual(changes, [`${CLAIM}.leaving`, '/results/t.md', '/completed/t.json']);
  assert.deepEqual(
    [...disk.tree()],
    [
      ['/completed/t.json', 'new'],
      ['/results/t.md', 'page'],
    ],
  );
});

test('a reader that opened a record before it is replaced reads the old one to its end', (t) => {
  const root = tempFolder('place', t);
  const at = (name: string): string => path.join(root, name);
  fs.writeFileSync(at('t_ana-peer0001.json'), 'the old record');
  const reader = fs.openSync(at('t_ana-peer0001.json'), 'r');
  const execute = executor(realDisk(), root, 'p');
  assert.equal(execute({ from: at('t_ana-peer0001.json'), to: at('t.json'), text: 'new' }).kind, 'placed');
  assert.equal(fs.readFileSync(reader, 'utf8'), 'the old record');
  assert.equal(fs.readFileSync(at('t.json'), 'utf8'), 'new');
  fs.closeSync(reader);
});

test('if a person moved the claim, nothing is placed and the content is evidence', () => {
  const { disk, execute } = ground({ '/pending/t.json': 'theirs' });
  assert.deepEqual(execute(END), { kind: 'fenced' });
  assert.deepEqual(
    [...disk.tree()],
    [
      ['/evidence/t', 'new'],
      ['/pending/t.json', 'theirs'],
    ],
  );
});

test('a task that has ended already does not end again', () => {
  const { disk, execute } = ground({ [CLAIM]: 'old', '/failed/t.json': 'theirs' });
  assert.deepEqual(execute(END), { kind: 'taken' });
  assert.equal(disk.tree().get('/failed/t.json'), 'theirs');
  assert.equal(disk.tree().get('/evidence/t'), 'new');
  assert.equal(disk.tree().get(CLAIM), 'old');
});

test('a task that is put back does not replace a file that a person put there', () => {
  const { disk, execute } = ground({ [CLAIM]: 'old', '/pending/t.json': 'theirs' });
  assert.deepEqual(execute({ from: CLAIM, to: '/pending/t.json', text: 'new' }), { kind: 'taken' });
  assert.equal(disk.tree().get('/pending/t.json'), 'theirs');
});

test('a file is moved without new content only to a free name', () => {
  const { disk, execute } = ground({ [CLAIM]: 'old', '/pending/t.json': 'theirs' });
  assert.deepEqual(execute({ from: CLAIM, to: '/pending/t.json' }), { kind: 'taken' });
  assert.equal(disk.tree().get('/pending/t.json'), 'theirs');
  disk.remove('/pending/t.json');
  assert.equal(execute({ from: CLAIM, to: '/pending/t.json' }).kind, 'placed');
  assert.deepEqual([...disk.tree()], [['/pending/t.json', 'old']]);
});

test('a new task is not created if it exists in any state or under any claim', () => {
  for (const taken of ['/completed/t.json', '/pending/t.json', CLAIM, `${CLAIM}.leaving`]) {
    const { disk, execute } = ground({ [taken]: 'theirs' });
    const isElsewhere = (): boolean => claimOf(disk, { tasks: () => '/active' }, 't') !== undefined;
    const create = { to: '/pending/t.json', text: 'new', others: ['/completed/t.json'], isElsewhere };
    assert.deepEqual(execute(create), { kind: 'taken' }, taken);
    assert.deepEqual([...disk.tree()], [[taken, 'theirs']]);
  }
  const { disk, execute } = ground({ '/active/t.work_ana-peer0001.json': 'another task' });
  const isElsewhere = (): boolean => claimOf(disk, { tasks: () => '/active' }, 't') !== undefined;
  assert.equal(execute({ to: '/pending/t.json', text: 'new', isElsewhere }).kind, 'placed');
  assert.equal(disk.tree().get('/pending/t.json'), 'new');
});

test('a process that dies at any change of an operation leaves no part under a name that others read', () => {
  for (const operation of [END, { to: '/pending/t.json', text: 'new text' }]) {
    for (let n = 1, isDead = true; isDead; n++) {
      const { disk } = ground({ [CLAIM]: 'old' });
      isDead = false;
      try {
        executor(crashDisk(disk, n), '/tmp', 'p')(operation);
      } catch {
        isDead = true;
      }
      for (const [file, text] of disk.tree())
        if (!file.startsWith('/tmp/') && !file.endsWith('.leaving'))
          assert.ok(['old', 'new', 'page', 'new text'].includes(text), `${file} has ${text} after change ${n}`);
    }
  }
});
