/**
 * Every story again, with the disk full, an I/O error or a missing permission at call N, for every N. `STEP=3` tries every third
 * call of the longer stories, beginning at a seeded one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../kit/crash-disk.js';
import { STORIES } from '../kit/stories.js';
import { failAt } from './fail-at.js';
import { SEED } from '../kit/seed.js';

const STEP = Number(process.env['STEP'] ?? 1);
console.log(`# faults: SEED=${SEED} STEP=${STEP}`);

for (const story of STORIES) {
  for (const [i, fault] of (['ENOSPC', 'EIO', 'EACCES'] as Fault[]).entries()) {
    test(`${story.name}: ${fault} at call after call (SEED=${SEED})`, async () => {
      const step = story.calls <= 2 ? 1 : STEP;
      let n = 1 + ((SEED + i) % step);
      let tried = 0;
      while (await failAt(story, n, fault)) {
        n += step;
        tried++;
      }
      assert.ok(tried > 10, `only ${tried} calls were tried`);
    });
  }
}
