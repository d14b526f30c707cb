/**
 * Each story on a slow store with one process: a decision is still valid when its task is claimed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { play } from '../kit/cluster.js';
import { lateCluster } from '../kit/late/cluster.js';
import { outcome } from '../kit/outcome.js';
import { sampleOf, sampleRounds } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { seeded } from '../kit/sim-processes.js';
import { STORIES } from '../kit/stories.js';

for (const given of sampleOf('late stories', STORIES, 3)) {
  test(`${given.name}: ends the same on a slow store (SEED=${SEED})`, async () => {
    for (const round of sampleRounds(`late ${given.name}`, 20, 20)) {
      const { disk, procs, story, start, reflect } = lateCluster(given, seeded(SEED + round));
      const proc = start();
      await play(proc, story, disk);
      reflect();
      assert.deepEqual(outcome(disk, story), [], `round ${round}, SEED=${SEED}`);
      assert.equal(procs.calls.length, story.calls, `round ${round}, SEED=${SEED}: model calls`);
    }
  });
}
