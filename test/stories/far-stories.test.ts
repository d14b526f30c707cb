/** Each story on the far store with one process, over a ledger in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { play } from '../kit/cluster.js';
import { farCluster } from '../kit/far/cluster.js';
import { outcome } from '../kit/outcome.js';
import { sampleOf } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { seeded } from '../kit/sim-processes.js';
import { STORIES } from '../kit/stories.js';

for (const given of sampleOf('far stories', STORIES, 3)) {
  test(`${given.name}: ends the same on the far store (SEED=${SEED})`, async () => {
    const { disk, procs, story, start, reflect } = farCluster(given, seeded(SEED));
    const proc = start();
    await play(proc, story, disk);
    await proc.store.flush();
    reflect();
    assert.deepEqual(outcome(disk, story), []);
    assert.equal(procs.calls.length, story.calls, 'model calls');
  });
}
