/** A task file in a mirrored folder that cannot be taken in stays, and the person reads why. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ledgerState, memoryLedger } from '../../../src/adapters/ledger/memory.js';
import { mirror } from '../../../src/app/machines/mirror/index.js';
import { removeFolder, tempFolder } from '../../kit/temp/folder.js';

const NOT_UTF8 = Buffer.concat([Buffer.from('{"description": "caf'), Buffer.from([0xe9]), Buffer.from('"}')]);

test('R6, R18: a task that is not UTF-8 is named once, and again if it is saved again', async (t) => {
  const top = tempFolder('mirror');
  t.after(() => removeFolder(top));
  const root = path.join(top, 'desk');
  fs.mkdirSync(root);
  const ledger = memoryLedger(ledgerState());
  const notes: string[] = [];
  const { look } = mirror({
    ...{ root, workspace: 'w', record: path.join(top, 'shown.json'), now: () => new Date(), ledger },
    note: (text) => notes.push(text),
  });
  await look();
  const file = path.join(root, 'tasks/pending/x.json');
  fs.writeFileSync(file, NOT_UTF8);
  for (const _ of [1, 2, 3]) await look();
  assert.deepEqual(notes, ['tasks/pending/x.json: this byte is not UTF-8 text']);
  assert.deepEqual(fs.readFileSync(file), NOT_UTF8);
  fs.appendFileSync(file, ' ');
  for (const _ of [1, 2, 3]) await look();
  assert.equal(notes.length, 2);
  assert.deepEqual(await ledger.list('task/'), []);
  fs.writeFileSync(file, '{"description": "café"}');
  await look();
  assert.equal((await ledger.list('task/')).length, 1);
});
