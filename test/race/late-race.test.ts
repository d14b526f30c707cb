/**
 * Two and three processes on a slow store, some of them dying at any call. Every task ends once,
 * with the right result, and no model call is paid twice without a crash.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { play, type Proc } from '../kit/cluster.js';
import { lateCluster } from '../kit/late/cluster.js';
import { outcome } from '../kit/outcome.js';
import { sampleOf, sampleRounds } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { seeded } from '../kit/sim-processes.js';
import { STORIES } from '../kit/stories.js';

for (const given of sampleOf('late stories that race', STORIES, 7)) {
  for (const count of [2, 3]) {
    test(`${given.name}: ${count} processes end every task once on a slow store (SEED=${SEED})`, async () => {
      for (const round of sampleRounds(`late race ${count} ${given.name}`, 20, 20)) {
        const random = seeded(SEED + round);
        const { disk, procs, story, start, reflect } = lateCluster(given, random);
        const deaths = round % 3 === 0 ? 0 : 1;
        const all: Proc[] = [];
        for (let g = 0; g < count; g++)
          all.push(start({ dies: g < deaths ? 1 + Math.floor(random() * 150) : Infinity }));
        await Promise.all(
          all.map((proc) =>
            play(proc, story, disk)
              .catch(() => undefined)
              .finally(() => proc.die()),
          ),
        );
        await play(start(), story, disk);
        reflect();
        assert.deepEqual(outcome(disk, story), [], `round ${round}, SEED=${SEED}`);
        const paid = procs.calls.length;
        const most = story.calls + deaths * 2 + (story.slack ?? 0);
        assert.ok(paid <= most, `round ${round}, SEED=${SEED}: ${paid} model calls, at most ${most}`);
      }
    });
  }
}
