/** What is kept of a command's output. How much memory that holds is measured after collecting, so that nobody's garbage counts. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';
import { output } from '../../../src/adapters/shell/output.js';
import { pipes } from '../../../src/adapters/shell/pipes.js';

test('of 50 MB only the head and the tail stay in memory, however small the pieces', async () => {
  for (const piece of [1_000_000, 500]) {
    const [pipe] = pipes(1, process.env['PATH']!);
    const before = heldBytes();
    const kept = output(pipe!.read, 10_000, Infinity, () => undefined);
    const blocks = [`bs=${piece}`, `count=${50_000_000 / piece}`];
    const writer = spawn('dd', ['if=/dev/zero', ...blocks], { stdio: ['ignore', pipe!.write, 'ignore'] });
    fs.closeSync(pipe!.write);
    await Promise.all([kept.ended, new Promise((resolve) => writer.once('exit', resolve))]);
    const held = heldBytes() - before;
    assert.match(kept.text().output, /\[… 49990000 of 50000000 bytes left out …\]/);
    assert.ok(held < 5e6, `${held} bytes are held`);
  }
});

/** Twice: what the first pass found to be free is given back by the second at the latest. */
function heldBytes(): number {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
