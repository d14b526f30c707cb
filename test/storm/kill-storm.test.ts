/**
 * kill -9 at any time loses nothing, repeats nothing and tears nothing: eight processes, five
 * hundred tasks.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { storm } from './storm.js';
import { sampleTests } from '../kit/sample.js';
import { EVERYTHING, SEED } from '../kit/seed.js';

/** `npm test` runs one of the three storms. */
const test = sampleTests('storm', 3, 0);

const TASKS = EVERYTHING ? 500 : 30;

test(
  `a kill storm over ${TASKS} tasks ends with every task ended once (SEED=${SEED})`,
  { timeout: 8_000_000 },
  async (t) => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-storm-'));
    const { kills, seconds, reader, wrong } = await storm({ root, tasks: TASKS, seed: SEED, limitMs: 7_200_000 });
    t.diagnostic(
      `${kills} kills in ${seconds.toFixed(1)} s; ${reader.reads} files read beside it, ${reader.partSeen} in the middle of an append`,
    );
    assert.deepEqual(wrong.slice(0, 20), [], `see ${root}`);
    assert.deepEqual(reader.torn.slice(0, 20), [], `see ${root}`);
    assert.ok(kills >= 5 && reader.reads > TASKS, `${kills} kills and ${reader.reads} reads prove too little`);
    fs.rmSync(root, { recursive: true, force: true });
  },
);
