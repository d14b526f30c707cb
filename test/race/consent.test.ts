/** Processes of one user compete for the records of consent: one key, one record, one start. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../kit/temp/folder.js';
import { consent } from '../../src/adapters/consent/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import { privateTexts } from '../../src/adapters/private-texts/index.js';
import { hashTree } from '../../src/adapters/trust/plugin-tree.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('race, real processes', 3, 10);

const CHILD = path.join(path.dirname(fileURLToPath(import.meta.url)), 'consent-child.js');
const PROCESSES = 6;
const ROUNDS = 3;

interface Got {
  signature: string;
  record: string;
  copy: string;
  text: string;
  began: boolean;
}

test('several processes make one key, one trust record and one copy, and one of them starts', async (t) => {
  for (let round = 0; round < ROUNDS; round++) {
    const base = tempFolder('meet', t);
    fs.mkdirSync(path.join(base, 'plugins/x'), { recursive: true });
    fs.writeFileSync(path.join(base, 'plugins/x/index.mjs'), 'export default {};\n');
    const { hash } = hashTree(path.join(base, 'plugins'));
    const children = Array.from({ length: PROCESSES }, (_, n) => start([base, String(n), hash]));
    await Promise.all(children.map(({ ready }) => ready));
    fs.writeFileSync(path.join(base, 'go'), '');
    const got = await Promise.all(children.map(({ ended }) => ended));
    const one = (values: unknown[]): void => assert.equal(new Set(values).size, 1, values.join());
    one(got.map(({ record }) => record));
    one(got.map(({ copy }) => copy));
    assert.equal(got.filter(({ began }) => began).length, 1);
    const later = consent({ disk: disk(), folder: '', workspace: 'w', keyFile: path.join(base, 'state/key') });
    const answer = { approved: true, by: 'human', at: '2026-01-01T00:00:00.000Z' } as const;
    for (const { signature } of got) assert.ok(later.isSigned({ task: 't', digest: 'd', answer }, signature));
    assert.ok(privateTexts({ root: base, disk: disk() }).get(got[0]!.text));
    const lines = fs.readFileSync(path.join(base, '.guild/file-taint.jsonl'), 'utf8').split('\n').filter(Boolean);
    assert.equal(new Set(lines.map((line) => (JSON.parse(line) as { file: string }).file)).size, PROCESSES * 20);
  }
});

function start(args: string[]): { ready: Promise<void>; ended: Promise<Got> } {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  let isReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (isReady = resolve));
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said.startsWith('ready\n')) isReady();
  });
  const ended = new Promise<Got>((resolve, reject) =>
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(said.slice('ready\n'.length)) as Got);
      else reject(new Error(`a process ended with ${code}`));
    }),
  );
  return { ready, ended };
}
