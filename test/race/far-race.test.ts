/**
 * Processes on the far store over a bad network. A seed delays, repeats and loses answers, pauses
 * processes beyond their lease and cuts them off; clocks are wrong by up to an hour and run at
 * different speeds. A process that was declared dead or cut off starts again under a new name.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asProblem } from '../../src/domain/problem.js';
import { play } from '../kit/cluster.js';
import { farCluster, type FarCluster, type FarProc } from '../kit/far/cluster.js';
import { STORM, type Weather } from '../kit/far/sim-ledger.js';
import { outcome } from '../kit/outcome.js';
import { sampleOf, sampleRounds } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { seeded } from '../kit/sim-processes.js';
import { STORIES, type Story } from '../kit/stories.js';

const RESTARTS = 30;
/** All of them together are more than 10,000 cases. */
const ROUNDS = Math.ceil(10_000 / STORIES.length);
const HOUR_MS = 3_600_000;
const ROUND = process.env['ROUND'];

/** Plays until the end; starts again under a new name like the driver of `watch`. */
async function work(farm: FarCluster, random: () => number, weather: Weather): Promise<number> {
  const abandoned = new Set<string>();
  for (let restarts = 0; restarts < RESTARTS; restarts++) {
    const clock = { skewMs: (random() * 2 - 1) * HOUR_MS, rate: 0.9 + random() * 0.2 };
    const proc = farm.start({ weather, ...clock, abandoned: new Set(abandoned) });
    abandoned.add(proc.store.presence.peer.id);
    try {
      await play(proc, farm.story, farm.disk);
      await proc.store.flush();
      return restarts;
    } catch (thrown) {
      const { code } = asProblem(thrown);
      if (code !== 'declared_dead' && code !== 'store_away') throw thrown;
    } finally {
      proc.die();
    }
  }
  throw new Error('it never comes to an end');
}

for (const story of stories()) {
  test(`${story.name}: ends once on a bad network (SEED=${SEED})`, async () => {
    const failures: string[] = [];
    for (const round of rounds(story.name))
      await race(story, round).catch((thrown: unknown) =>
        failures.push(`${(thrown as Error).stack}\nrepeat it with: ${repeat(story.name, round)}`),
      );
    if (failures.length > 0) assert.fail(failures.join('\n\n'));
  });
}

/** `ROUND=…` plays one round of each story; the name of a test selects the story. */
function stories(): readonly Story[] {
  return ROUND === undefined ? sampleOf('far stories that race', STORIES, 7) : STORIES;
}

function rounds(name: string): number[] {
  return ROUND === undefined ? sampleRounds(`far race ${name}`, ROUNDS, ROUNDS) : [Number(ROUND)];
}

function repeat(name: string, round: number): string {
  const pattern = `^${name.replaceAll(/[^\w ]/g, '.')}:`;
  return `SEED=${SEED} ROUND=${round} node --test --test-name-pattern='${pattern}' dist/test/race/far-race.test.js`;
}

async function race(story: Story, round: number): Promise<void> {
  const random = seeded(SEED + round);
  const farm = farCluster(story, random);
  const restarts = await Promise.all(Array.from({ length: 1 + (round % 3) }, () => work(farm, random, STORM)));
  const last = farm.start();
  await settled(farm, last);
  farm.reflect();
  assert.deepEqual(outcome(farm.disk, farm.story), []);
  const faults = restarts.reduce((sum, count) => sum + count, 0) + farm.net.faults.pauses;
  const most = farm.story.calls + faults * 2 + (farm.story.slack ?? 0);
  assert.ok(farm.procs.calls.length <= most, `${farm.procs.calls.length} model calls, at most ${most}`);
}

/** The last process waits until the leases of all others have expired, and finishes their work. */
async function settled(farm: FarCluster, last: FarProc): Promise<void> {
  await last.store.presence.join();
  do await last.store.tasks.scan();
  while ((await last.store.presence.peers()).length > 1);
  await play(last, farm.story, farm.disk);
  await last.store.flush();
}
