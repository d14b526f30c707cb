/**
 * One of several processes that compete for the records of consent. Waits for a file to appear,
 * then does everything at once and prints its results as JSON.
 */
import fs from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { consent } from '../../src/adapters/consent/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import { fileTaint } from '../../src/adapters/file-taint/index.js';
import { privateTexts } from '../../src/adapters/private-texts/index.js';
import { keepCopy } from '../../src/adapters/trust/plugin-tree.js';
import { trustRecords } from '../../src/adapters/trust/records.js';

const [base = '', number = '', hash = ''] = process.argv.slice(2);
const real = disk();
const mine = consent({
  disk: real,
  folder: path.join(base, 'state/w'),
  workspace: 'w',
  keyFile: path.join(base, 'state/key'),
});
const taint = fileTaint({
  root: base,
  disk: real,
  baseOf: (file) => ({ path: file, sha256: createHash('sha256').update(file).digest('hex') }),
});
process.stdout.write('ready\n');
while (!fs.existsSync(path.join(base, 'go')));
const answer = { approved: true, by: 'human', at: '2026-01-01T00:00:00.000Z' } as const;
const signature = mine.sign({ task: 't', digest: 'd', answer });
const record = trustRecords(real, path.join(base, 'state')).create('/w', 0);
const copy = keepCopy(path.join(base, 'plugins'), path.join(base, 'state'), hash);
for (let n = 0; n < 20; n++) taint.writes(`memory/${number}-${n}`, `memory/${number}-${n}`, [`from/${number}`]);
const text = await privateTexts({ root: base, disk: real }).put('the same secret\n'.repeat(1000));
const began = await mine.begin('effect');
process.stdout.write(JSON.stringify({ signature, record: record.id, copy, text, began }));
