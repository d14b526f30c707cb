/**
 * `npm run test:watch -- session`: repeats the matching tests after each change of a source.
 * Without a word it repeats the quick checks.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ROOT } from './setup.mjs';

const SETTLE_MS = 200;
const words = process.argv.slice(2);
const args = [path.join(ROOT, 'scripts', 'test.mjs'), ...(words.length === 0 ? ['--quick'] : words)];
let timer;
let isRunning = false;
let isStale = false;

for (const folder of ['src', 'test']) fs.watch(path.join(ROOT, folder), { recursive: true }, soon);
runAll();

/** Editors write a file in several steps, and a branch switch writes many files. */
function soon() {
  clearTimeout(timer);
  timer = setTimeout(runAll, SETTLE_MS);
}

function runAll() {
  if (isRunning) {
    isStale = true;
    return;
  }
  [isRunning, isStale] = [true, false];
  spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }).once('exit', () => {
    isRunning = false;
    if (isStale) runAll();
    else process.stdout.write('waiting for a change (Ctrl-C stops)\n');
  });
}
