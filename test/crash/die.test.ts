/**
 * Every story with its process dying at change N, for every N: half of the bytes of that change are
 * written, then nothing more. Another process continues, and the story ends the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashDisk } from '../kit/crash-disk.js';
import { AT_ONCE, cluster, play } from '../kit/cluster.js';
import { outcome } from '../kit/outcome.js';
import { simDisk } from '../kit/sim-disk.js';
import { writeStory, STORIES } from '../kit/stories.js';
import { PATTERNS } from '../kit/stories/patterns.js';
import { sampleNumbers, sampleOf } from '../kit/sample.js';
import { failAt } from './fail-at.js';

/** The first death while the story is played, the second while it is recovered. */
const PAIRS: [n: number, m: number][] = [];
for (let n = 3; n < 90; n += 9) for (let m = 1; m < 40; m += 5) PAIRS.push([n, m]);

/** `dies` is false when the story has fewer writes than `n`. */
async function atEachWrite(suite: string, dies: (n: number) => Promise<boolean>): Promise<void> {
  for (const n of sampleNumbers(suite)) {
    if (await dies(n)) continue;
    return assert.ok(n > 20, `only ${n} writes were tried`);
  }
}

for (const story of sampleOf('stories that die', STORIES, 7)) {
  test(`${story.name}: survives a crash at every change`, async () => {
    await atEachWrite(`die ${story.name}`, (n) => failAt(story, n, 'die'));
  });

  test(`${story.name}: survives a second crash during recovery`, async () => {
    for (const [n, m] of sampleOf(`two deaths ${story.name}`, PAIRS, 20)) {
      const disk = simDisk();
      writeStory(disk, story);
      const world = cluster(story.script, story.asks);
      for (const at of [n, m]) {
        const proc = world.start(crashDisk(disk, at));
        await play(proc, story, disk).catch(() => undefined);
        proc.die();
      }
      const last = world.start(disk);
      await play(last, story, disk);
      last.die();
      assert.deepEqual(outcome(disk, story), [], `deaths at ${n} and ${m}`);
    }
  });
}

for (const story of sampleOf('patterns that die', PATTERNS, 7)) {
  test(`${story.name}: survives a crash at every change with a disk that follows at once`, async () => {
    await atEachWrite(`die at once ${story.name}`, (n) => failAt(story, n, 'die', AT_ONCE));
  });
}
