/** Each story, played once without faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, play } from '../kit/cluster.js';
import { outcome } from '../kit/outcome.js';
import { simDisk } from '../kit/sim-disk.js';
import { writeStory, STORIES } from '../kit/stories.js';

for (const story of STORIES) {
  test(story.name, async () => {
    const disk = simDisk();
    writeStory(disk, story);
    const world = cluster(story.script, story.asks);
    const proc = world.start(disk);
    await play(proc, story, disk);
    assert.deepEqual(outcome(disk, story), []);
    assert.equal(world.calls.length, story.calls, 'model calls');
  });

  test(`${story.name}: another pass after the end costs no model call and writes nothing`, async () => {
    const disk = simDisk();
    writeStory(disk, story);
    const world = cluster(story.script, story.asks);
    const proc = world.start(disk);
    await play(proc, story, disk);
    const before = disk.tree();
    assert.equal((await proc.engine.pump()).moved, false);
    assert.equal(world.calls.length, story.calls);
    assert.deepEqual(
      [...disk.tree()].filter(([file, text]) => before.get(file) !== text),
      [],
    );
  });
}
