/**
 * Every story on every stand-in, over HTTP with our real clients: no request of a story may be
 * refused. `npm test` plays two stories on each, chosen by the seed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STAND_IN_NAMES } from '../../src/adapters/models/stand-ins/index.js';
import { cluster, play } from '../kit/cluster.js';
import { outcome } from '../kit/outcome.js';
import { sampleOf } from '../kit/sample.js';
import { simDisk } from '../kit/sim-disk.js';
import { standInModel } from '../kit/models/stand-in-model.js';
import { writeStory, STORIES } from '../kit/stories.js';

for (const as of STAND_IN_NAMES) {
  for (const story of sampleOf(`stand-in ${as}`, STORIES, Math.floor(STORIES.length / 2))) {
    test(`${as}: ${story.name}`, async () => {
      const disk = simDisk();
      writeStory(disk, story);
      const world = cluster(story.script, story.asks);
      const proc = world.start(disk);
      const model = await standInModel(as, story.script);
      proc.ports.model = model;
      try {
        await play(proc, story, disk);
      } finally {
        await model.close();
      }
      assert.deepEqual(outcome(disk, story), [], model.refusals().join('\n'));
      assert.equal(model.replies.length, story.calls, 'model calls');
    });
  }
}
