/**
 * `npm run soak`: a longer kill storm. `--tasks n`, `--seed n`. Keeps the folder after a problem.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { storm } from '../storm/storm.js';

const { values } = parseArgs({ options: { tasks: { type: 'string' }, seed: { type: 'string' } } });
const tasks = Number(values.tasks ?? 2000);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-soak-'));
console.log(`kill storm: ${tasks} tasks, seed ${seed}, in ${root}`);
const { kills, seconds, reader, wrong } = await storm({ root, tasks, seed, limitMs: 600_000 + tasks * 2000 });
console.log(
  `${kills} kills in ${seconds.toFixed(1)} s; ${reader.reads} files read beside it, ${reader.partSeen} in the middle of an append`,
);
for (const line of [...wrong, ...reader.torn]) console.log(`wrong: ${line}`);
if (wrong.length + reader.torn.length > 0) process.exit(1);
fs.rmSync(root, { recursive: true, force: true });
console.log('every task ended once, nothing is torn or left over');
