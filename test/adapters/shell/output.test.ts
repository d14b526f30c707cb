/** The output of a command is kept in bounded memory, measured after garbage collection. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';
import { output } from '../../../src/adapters/shell/output.js';
import { pipes } from '../../../src/adapters/shell/pipes.js';

test('only the head and tail of 50 MB stay in memory, even in small pieces', async () => {
  for (const piece of [1_000_000, 500]) {
    const [pipe] = pipes(1, process.env['PATH']!);
    const before = heldBytes();
    const reader = output(pipe!.read, 10_000, Infinity, () => undefined);
    const blocks = [`bs=${piece}`, `count=${50_000_000 / piece}`];
    const writer = spawn('dd', ['if=/dev/zero', ...blocks], { stdio: ['ignore', pipe!.write, 'ignore'] });
    fs.closeSync(pipe!.write);
    await Promise.all([reader.ended, new Promise((resolve) => writer.once('exit', resolve))]);
    const held = heldBytes() - before;
    assert.match(reader.text().output, /\[… 49990000 of 50000000 bytes left out …\]/);
    assert.ok(held < 5e6, `${held} bytes in memory`);
  }
});

/** Collects twice, because the first run may free memory only for the second run. */
function heldBytes(): number {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
