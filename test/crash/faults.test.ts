/**
 * Every story with a disk that fails at call N, for every N: full, with an I/O error, or without
 * permission.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../kit/crash-disk.js';
import { STORIES } from '../kit/stories.js';
import { sampleNumbers, sampleOf } from '../kit/sample.js';
import { failAt } from './fail-at.js';

const FAULTS: Fault[] = ['ENOSPC', 'EIO', 'EACCES'];
const CASES = STORIES.flatMap((story) => FAULTS.map((fault) => ({ story, fault })));

for (const { story, fault } of sampleOf('stories with faults', CASES, 17)) {
  test(`${story.name}: survives ${fault} at every call`, async () => {
    for (const n of sampleNumbers(`${fault} ${story.name}`)) {
      if (await failAt(story, n, fault)) continue;
      return assert.ok(n > 10, `only ${n} calls were tried`);
    }
  });
}
