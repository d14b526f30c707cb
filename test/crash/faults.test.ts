/**
 * Every story with a disk that fails at call N, for every N: full, with an I/O error, or without
 * permission.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../kit/crash-disk.js';
import { STORIES } from '../kit/stories.js';
import { sampleNumbers } from '../kit/sample.js';
import { EVERYTHING, SEED } from '../kit/seed.js';
import { failAt } from './fail-at.js';

const FAULTS: Fault[] = ['ENOSPC', 'EIO', 'EACCES'];

for (const [at, story] of STORIES.entries()) {
  // A sample tries one fault with each story; three consecutive seeds try all of them.
  for (const fault of EVERYTHING ? FAULTS : [FAULTS[(SEED + at) % FAULTS.length]!]) {
    test(`${story.name}: survives ${fault} at every call`, async () => {
      for (const n of sampleNumbers(`${fault} ${story.name}`)) {
        if (await failAt(story, n, fault)) continue;
        return assert.ok(n > 10, `only ${n} calls were tried`);
      }
    });
  }
}
