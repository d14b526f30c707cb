/**
 * Power cuts: the process dies at change N and the disk forgets what was not synced, as unkindly as a journalling file
 * system may. What was acknowledged is there; what was half written is not taken for whole.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashDisk } from '../kit/crash-disk.js';
import { AT_ONCE, cluster, play, WHEN_ASKED } from '../kit/cluster.js';
import { outcome } from '../kit/outcome.js';
import { simDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { lay, STORIES } from '../kit/stories.js';
import { sampleNumbers } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';

for (const story of STORIES) {
  test(`${story.name}: a power cut at every change (SEED=${SEED})`, async () => {
    for (const n of sampleNumbers(`power ${story.name}`)) {
      const disk = simDisk();
      lay(disk, story);
      for (const file of disk.tree().keys()) await disk.sync(file); // what the person saved is safe
      const house = cluster(story.script, story.asks, n % 2 === 0 ? AT_ONCE : WHEN_ASKED);
      const failing = crashDisk(disk, n);
      const first = house.start(failing);
      await play(first, story, disk).catch(() => undefined);
      first.die();
      disk.powerCut(seeded(SEED + n));
      const second = house.start(disk);
      await play(second, story, disk);
      second.die();
      assert.deepEqual(outcome(disk, story), [], `power cut at change ${n}, SEED=${SEED}`);
      if (failing.count() < n) return assert.ok(n > 20, `only ${n} changes were tried`);
    }
  });
}
