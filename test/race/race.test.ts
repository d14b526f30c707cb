/**
 * Two and three processes on one workspace, interleaved by a seed, some of them dying. Every task
 * ends once, with the right result, and no model call is paid twice without a crash.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk } from '../../src/ports/disk.js';
import { crashDisk } from '../kit/crash-disk.js';
import { cluster, play, type Proc } from '../kit/cluster.js';
import { outcome } from '../kit/outcome.js';
import { simDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { writeStory, STORIES } from '../kit/stories.js';
import { sampleOf, sampleRounds } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';

for (const story of sampleOf('stories that race', STORIES, 7)) {
  for (const procs of [2, 3]) {
    test(`${story.name}: ${procs} processes end every task once (SEED=${SEED})`, async () => {
      for (const round of sampleRounds(`race ${procs} ${story.name}`, 30, 30)) {
        const random = seeded(SEED + round);
        const disk = simDisk();
        writeStory(disk, story);
        const world = cluster(story.script, story.asks);
        const deaths = round % 3 === 0 ? 0 : 1;
        const all: Proc[] = [];
        for (let g = 0; g < procs; g++) {
          const slow = dawdling(disk, random);
          const dies = g < deaths ? 1 + Math.floor(random() * 80) : Infinity;
          all.push(world.start(crashDisk(slow, dies)));
        }
        await Promise.all(
          all.map((proc) =>
            play(proc, story, disk)
              .catch(() => undefined)
              .finally(() => proc.die()),
          ),
        );
        const last = world.start(disk);
        await play(last, story, disk);
        last.die();
        assert.deepEqual(outcome(disk, story), [], `round ${round}, SEED=${SEED}`);
        const paid = world.calls.length;
        assert.ok(
          paid <= story.calls + deaths * 2 + (story.slack ?? 0),
          `round ${round}, SEED=${SEED}: ${paid} model calls`,
        );
      }
    });
  }
}

/** Syncs take a random time, so that other processes run in between. */
function dawdling(disk: Disk, random: () => number): Disk {
  const pause = async (): Promise<void> => {
    for (let turns = Math.floor(random() * 4); turns > 0; turns--) await new Promise(setImmediate);
  };
  return {
    ...disk,
    async sync(file) {
      await pause();
      await disk.sync(file);
      await pause();
    },
    async syncFolder(folder) {
      await pause();
      await disk.syncFolder(folder);
      await pause();
    },
  };
}
