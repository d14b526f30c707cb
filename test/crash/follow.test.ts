/**
 * Stories of patterns in a process whose stages follow each other without a pass. It dies at change
 * N, another process continues, and the story ends the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AT_ONCE, following, WHEN_ASKED } from '../kit/cluster.js';
import { sampleNumbers } from '../kit/sample.js';
import { PATTERNS } from '../kit/stories/patterns.js';
import { failAt } from './fail-at.js';

for (const story of PATTERNS) {
  for (const [files, lag] of [
    ['later', WHEN_ASKED],
    ['at once', AT_ONCE],
  ] as const) {
    test(`${story.name}: a process that follows survives a crash at every change; files come ${files}`, async () => {
      for (const n of sampleNumbers(`follow ${files} ${story.name}`)) {
        if (await failAt(story, n, 'die', lag, following)) continue;
        return assert.ok(n > 20, `only ${n} writes were tried`);
      }
    });
  }
}
