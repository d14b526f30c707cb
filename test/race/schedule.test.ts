/**
 * Several processes on one schedule, interleaved by a seed: each due time gets one run, and no two
 * runs are worked on at the same time.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleLock } from '../../src/domain/task/id.js';
import { cluster, ROOT, untilQuiet } from '../kit/cluster.js';
import { farCluster } from '../kit/far/cluster.js';
import { CALM, type Weather } from '../kit/far/sim-ledger.js';
import { sampleRounds } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { simDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';

const HOUR = 3_600_000;

test(`three processes create one run for each due time (SEED=${SEED})`, async () => {
  for (const round of sampleRounds('race schedule', 20, 5)) {
    const random = seeded(SEED + round);
    const disk = simDisk();
    for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
    disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
    const task = { description: 'Look', to: 'ana', schedule: { cron: '0 * * * *', timezone: 'UTC' } };
    disk.save(`${ROOT}/tasks/pending/hourly.json`, JSON.stringify(task));
    const world = cluster('- {agent: ana, say: Done.}\n');
    const pause = async (): Promise<void> => {
      for (let turns = Math.floor(random() * 4); turns > 0; turns--) await new Promise(setImmediate);
    };
    const slow = {
      ...disk,
      async sync(file: string) {
        await pause();
        await disk.sync(file);
      },
    };
    const all = [1, 2, 3].map(() => world.start(slow));
    for (let hour = 0; hour < 4; hour++) {
      await Promise.all(all.map((proc) => untilQuiet(proc)));
      await all[0]!.ports.clock.sleep(HOUR);
    }
    await Promise.all(all.map((proc) => untilQuiet(proc)));
    const runs = disk.list(`${ROOT}/tasks/completed`).sort();
    assert.deepEqual(
      runs,
      ['0100', '0200', '0300', '0400'].map((at) => `hourly-20260101T${at}Z.json`),
      `round ${round}, SEED=${SEED}`,
    );
    assert.equal(world.calls.length, 4, `round ${round}, SEED=${SEED}`);
    for (const proc of all) proc.die();
  }
});

test(`three machines that share a store create one run for each due time (SEED=${SEED})`, async () => {
  for (const round of sampleRounds('far race schedule', 20, 5)) {
    const random = seeded(SEED + round);
    const hourly = { description: 'Look', to: 'ana', schedule: { cron: '0 * * * *', timezone: 'UTC' } };
    const farm = farCluster(
      {
        name: 'hourly',
        agents: { ana: '---\ndescription: Answers\n---\nWork.\n' },
        tasks: { hourly },
        script: '- {agent: ana, say: Done.}\n',
        results: {},
        calls: 4,
      },
      random,
    );
    // Answers are late and repeated, and the machines do not agree about the time.
    const late: Weather = { ...CALM, delay: 3, lost: 0.1, repeated: 0.1 };
    const all = [-50_000, 0, 50_000].map((skewMs) => farm.start({ weather: late, skewMs }));
    for (let hour = 0; hour < 4; hour++) {
      await Promise.all(all.map((proc) => untilQuiet(proc, 400)));
      await all[1]!.ports.clock.sleep(HOUR);
    }
    // The slowest clock reaches the hour, too.
    await all[1]!.ports.clock.sleep(60_000);
    await Promise.all(all.map((proc) => untilQuiet(proc, 400)));
    const runs = [...farm.state.entries.keys()].filter((key) => key.startsWith('task/hourly-')).sort();
    assert.deepEqual(
      runs,
      ['0100', '0200', '0300', '0400'].map((at) => `task/hourly-20260101T${at}Z`),
      `round ${round}, SEED=${SEED}`,
    );
    assert.equal(farm.procs.calls.length, 4, `round ${round}, SEED=${SEED}`);
    for (const proc of all) proc.die();
  }
});

test('two runs of one schedule never overlap, even if a late machine created both', async () => {
  const disk = simDisk();
  for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
  disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
  for (const at of ['0100', '0200']) {
    const context = { scheduled: { by: 'hourly', at: `2026-01-01T${at.slice(0, 2)}:00:00.000Z` } };
    disk.save(
      `${ROOT}/tasks/pending/hourly-20260101T${at}Z.json`,
      JSON.stringify({ description: 'Look', to: 'ana', context }),
    );
  }
  const world = cluster('- {agent: ana, say: Done.}\n');
  const [one, two] = [world.start(disk), world.start(disk)];
  let working = 0;
  let most = 0;
  for (const proc of [one, two]) {
    const { model } = proc.ports;
    proc.ports.model = {
      async call(request) {
        most = Math.max(most, ++working);
        for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
        working--;
        return model.call(request);
      },
    };
  }
  await Promise.all([untilQuiet(one), untilQuiet(two)]);
  await untilQuiet(one);
  assert.equal(disk.list(`${ROOT}/tasks/completed`).length, 2);
  assert.equal(most, 1, `both worked at once although they share ${scheduleLock('hourly')}`);
  for (const proc of [one, two]) proc.die();
});
