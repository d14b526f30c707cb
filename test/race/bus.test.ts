/**
 * Real processes share a channel and are killed at any moment; every reader reads each note once.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../kit/temp/folder.js';
import { bus } from '../../src/adapters/bus/index.js';
import { clock } from '../../src/adapters/clock/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('race, real processes', 3, 3);

const CHILD = fileURLToPath(new URL('./bus-child.js', import.meta.url));
const NOTES = 150;

test('killed writers and readers neither lose nor repeat a note', async (t) => {
  const root = folder(t);
  const tellers = ['ann', 'ben', 'cyd'].map((name) => untilDone(['tell', root, name, `${NOTES}`], 2));
  const readers = ['r', 's', 't'].map((name) => untilDone(['read', root, name, '2', `${NOTES * 3}`], 2));
  await Promise.all([...tellers, ...readers]);
  const all = readAll(root);
  assert.equal(all.length, NOTES * 3);
  assert.equal(new Set(all).size, NOTES * 3);
  for (const name of ['r-0', 'r-1', 's-0', 's-1', 't-0', 't-1'])
    assert.deepEqual(heard(root, name), [...all].sort(), name);
});

test('300 readers in three processes, one of them killed, read every note', async (t) => {
  const root = folder(t);
  const tellers = ['ann', 'ben'].map((name) => untilDone(['tell', root, name, `${NOTES}`], 0));
  const readers = ['r', 's', 't'].map((name, i) =>
    untilDone(['read', root, name, '100', `${NOTES * 2}`], i === 0 ? 1 : 0),
  );
  await Promise.all([...tellers, ...readers]);
  const all = readAll(root).sort();
  assert.equal(all.length, NOTES * 2);
  for (const name of ['r', 's', 't']) for (let n = 0; n < 100; n++) assert.deepEqual(heard(root, `${name}-${n}`), all);
});

function folder(t: TestContext): string {
  const root = tempFolder('bus-race', t);
  return root;
}

/** Runs the child; kills and restarts it `kills` times, each after some lines of output. */
async function untilDone(args: string[], kills: number): Promise<void> {
  for (let left = kills; ; left--) {
    const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let lines = 0;
    const after = 3 + left * 4;
    child.stdout.on('data', (text: Buffer) => {
      lines += text.toString().split('\n').length - 1;
      if (left > 0 && lines >= after) child.kill('SIGKILL');
    });
    const { code, signal } = await ended(child);
    if (code === 0) return;
    assert.equal(signal, 'SIGKILL', `${args.join(' ')} ended with ${code}`);
  }
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
}

function readAll(root: string): string[] {
  return bus({ root, disk: disk(), clock: clock() })
    .read('news')
    .map(({ id }) => id);
}

/** Complete lines only: a kill may have torn one. */
function heard(root: string, reader: string): string[] {
  const lines = fs.readFileSync(path.join(root, `heard-${reader}`), 'utf8').match(/^\S+(?=;$)/gm);
  return [...new Set(lines)].sort();
}
