/**
 * Two processes whose stages follow each other without a pass, on one workspace, interleaved by a
 * seed, one of them sometimes dying. Every task ends once, with the right result.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, following, play } from '../kit/cluster.js';
import { crashDisk } from '../kit/crash-disk.js';
import { outcome } from '../kit/outcome.js';
import { sampleRounds } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { simDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { writeStory } from '../kit/stories.js';
import { PATTERNS } from '../kit/stories/patterns.js';

for (const story of PATTERNS) {
  test(`${story.name}: two processes that follow end every task once (SEED=${SEED})`, async () => {
    for (const round of sampleRounds(`follow ${story.name}`, 30, 10)) {
      const random = seeded(SEED + round);
      const disk = simDisk();
      writeStory(disk, story);
      const world = cluster(story.script, story.asks);
      const deaths = round % 3 === 0 ? 0 : 1;
      const dies = deaths === 0 ? Infinity : 1 + Math.floor(random() * 80);
      const both = [world.start(crashDisk(disk, dies)), world.start(disk)].map(following);
      await Promise.all(
        both.map((proc) =>
          play(proc, story, disk)
            .catch(() => undefined)
            .finally(() => proc.die()),
        ),
      );
      const last = following(world.start(disk));
      await play(last, story, disk);
      last.die();
      assert.deepEqual(outcome(disk, story), [], `round ${round}, SEED=${SEED}`);
      const paid = world.calls.length;
      // As in the crash suite, a process that follows stages may lose its last two answers.
      const most = story.calls + deaths * 3 + (story.slack ?? 0);
      assert.ok(paid <= most, `round ${round}, SEED=${SEED}: ${paid} model calls`);
    }
  });
}
