/**
 * Power cuts: the process dies at change N and the disk loses unsynced data, as badly as a
 * journalling file system may. Acknowledged data survives, and partial writes are not taken for
 * complete ones.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashDisk } from '../kit/crash-disk.js';
import { AT_ONCE, cluster, play, WHEN_ASKED } from '../kit/cluster.js';
import { outcome } from '../kit/outcome.js';
import { simDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { writeStory, STORIES } from '../kit/stories.js';
import { sampleNumbers, sampleOf } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';

for (const story of sampleOf('stories without power', STORIES, 7)) {
  test(`${story.name}: survives a power cut at every change (SEED=${SEED})`, async () => {
    for (const n of sampleNumbers(`power ${story.name}`)) {
      const disk = simDisk();
      writeStory(disk, story);
      // files that the person saved are durable
      for (const file of disk.tree().keys()) await disk.sync(file);
      const world = cluster(story.script, story.asks, n % 2 === 0 ? AT_ONCE : WHEN_ASKED);
      const failing = crashDisk(disk, n);
      const first = world.start(failing);
      await play(first, story, disk).catch(() => undefined);
      first.die();
      disk.powerCut(seeded(SEED + n));
      const second = world.start(disk);
      await play(second, story, disk);
      second.die();
      assert.deepEqual(outcome(disk, story), [], `power cut at change ${n}, SEED=${SEED}`);
      if (failing.count() < n) return assert.ok(n > 20, `only ${n} changes were tried`);
    }
  });
}
