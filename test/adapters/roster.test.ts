/** Agent files appear and vanish: other processes and editors write them, next to other files. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { disk as realDisk } from '../../src/adapters/disk/index.js';
import { roster } from '../../src/adapters/roster/index.js';
import { simDisk } from '../kit/sim-disk.js';

const SOURCE = '---\ndescription: Draws\n---\nYou draw.\n';

test('an agent created twice at once exists once, and readers never see a missing file', async () => {
  const disk = simDisk();
  disk.makeFolder('/w/agents');
  const [one, two] = [roster(disk, '/w'), roster(disk, '/w')];
  const made = await Promise.all([one, two, one].map((here) => here.create('drawer', SOURCE, 'asked')));
  assert.deepEqual(made.map((problem) => problem?.code ?? 'made').sort(), ['duplicate', 'duplicate', 'made']);
  assert.equal(disk.tree().get('/w/agents/drawer.md'), SOURCE);
});

test('files without a dot in agents/ are not agents and do no harm', (t) => {
  const root = tempFolder('roster', t);
  fs.mkdirSync(path.join(root, 'agents', 'reader'), { recursive: true });
  fs.writeFileSync(path.join(root, 'agents', 'reader', 'agent.md'), SOURCE);
  fs.writeFileSync(path.join(root, 'agents', 'drawer.md'), SOURCE);
  for (const name of ['LICENSE', 'Makefile', '4913', 'sedAbC', 'drawer~'])
    fs.writeFileSync(path.join(root, 'agents', name), 'text\n');
  fs.writeFileSync(path.join(root, '.claude'), 'a file where a folder is expected\n');
  const here = roster(realDisk(), root);
  assert.deepEqual(here.refresh(), []);
  assert.deepEqual([...here.all().keys()].sort(), ['drawer', 'reader']);
});

test('an agent whose file vanishes while it is read is gone, without a problem', () => {
  const disk = simDisk();
  disk.makeFolder('/w/agents');
  disk.create('/w/agents/drawer.md', SOURCE);
  const here = roster({ ...disk, read: () => ({ kind: 'missing' }) }, '/w');
  assert.deepEqual(here.check(), { problems: [], warnings: [], files: 0, lost: new Set(), drafts: [] });
});
