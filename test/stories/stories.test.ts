/** Each story, told once without anything going wrong, from the first pass to the last. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, play } from '../kit/cluster.js';
import { outcome } from '../kit/outcome.js';
import { simDisk } from '../kit/sim-disk.js';
import { lay, STORIES } from '../kit/stories.js';

for (const story of STORIES) {
  test(story.name, async () => {
    const disk = simDisk();
    lay(disk, story);
    const house = cluster(story.script, story.asks);
    const proc = house.start(disk);
    await play(proc, story, disk);
    assert.deepEqual(outcome(disk, story), []);
    assert.equal(house.calls.length, story.calls, 'model calls');
  });

  test(`${story.name}: once it is quiet, looking again costs no model call and writes nothing`, async () => {
    const disk = simDisk();
    lay(disk, story);
    const house = cluster(story.script, story.asks);
    const proc = house.start(disk);
    await play(proc, story, disk);
    const before = disk.tree();
    assert.equal((await proc.engine.pump()).moved, false);
    assert.equal(house.calls.length, story.calls);
    assert.deepEqual(
      [...disk.tree()].filter(([file, text]) => before.get(file) !== text),
      [],
    );
  });
}
