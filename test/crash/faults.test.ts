/**
 * Every story again, with a disk that fails at call N, for every N: full, and with an I/O error or a missing permission in turns.
 * `FAULTS=all` tries all three at each call.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../kit/crash-disk.js';
import { STORIES } from '../kit/stories.js';
import { failAt } from './fail-at.js';

const ALL = process.env['FAULTS'] === 'all';

/** Every call, or every second one, beginning where the other kind does not. */
const KINDS: { fault: Fault; first: number; step: number }[] = [
  { fault: 'ENOSPC', first: 1, step: 1 },
  { fault: 'EIO', first: 1, step: ALL ? 1 : 2 },
  { fault: 'EACCES', first: ALL ? 1 : 2, step: ALL ? 1 : 2 },
];

for (const story of STORIES) {
  for (const { fault, first, step } of KINDS) {
    test(`${story.name}: ${fault} at call after call`, async () => {
      let n = first;
      while (await failAt(story, n, fault)) n += step;
      assert.ok(n > 10, `only ${n} calls were tried`);
    });
  }
}
