/**
 * An agent never works on more tasks at once than its file allows, with any number of processes. A
 * seed orders their scans, claims and model calls.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { clock, ids } from '../../src/adapters/clock/index.js';
import { disk as realDisk } from '../../src/adapters/disk/index.js';
import { files } from '../../src/adapters/files/index.js';
import { processes } from '../../src/adapters/processes/index.js';
import type { Disk } from '../../src/ports/disk.js';
import type { Model } from '../../src/ports/model.js';
import type { Store } from '../../src/ports/store/index.js';
import { cluster, untilQuiet, type Proc } from '../kit/cluster.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { writeStory } from '../kit/stories.js';
import { sampleRounds } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';

const NAMES = ['t0', 't1', 't2', 't3', 't4', 't5'];

/** `ana` does some of the tasks and advises on the others. */
function workspace(most: number): SimDisk {
  const disk = simDisk();
  const to = (n: number): string => (n % 4 < 2 ? 'boss' : 'ana');
  writeStory(disk, {
    name: '',
    agents: {
      ana: `---\ndescription: A\nmax_concurrent_tasks: ${most}\n---\nDo it.\n`,
      boss: '---\ndescription: B\nadvisors: [ana]\n---\nDo it.\n',
    },
    tasks: Object.fromEntries(NAMES.map((name, n) => [name, { description: 'Do it', to: to(n) }])),
    script: '',
    results: {},
    calls: 0,
  });
  return disk;
}

for (const [most, procs] of [
  [1, 2],
  [1, 3],
  [2, 3],
] as const) {
  test(`an agent with capacity ${most} keeps it in ${procs} processes (SEED=${SEED})`, async () => {
    for (const round of sampleRounds(`room ${most} ${procs}`, 20, 10)) {
      const random = seeded(SEED + round);
      const disk = workspace(most);
      const world = cluster('- {say: Done.}');
      let busy = 0;
      let highest = 0;
      const enter = (): Proc => {
        const proc = world.start(dawdling(disk, random));
        const { store } = proc;
        const { model } = proc.ports;
        const { call } = model;
        const { scan } = store.tasks;
        // Other processes run between a scan and the decision based on it.
        store.tasks.scan = async (full) => {
          const found = await scan(full);
          await pause(random, 8);
          return found;
        };
        const slow: Model['call'] = async (request) => {
          if (request.agent !== 'ana') return call(request);
          highest = Math.max(highest, ++busy);
          await pause(random, 8);
          busy--;
          return call(request);
        };
        proc.ports.model = { call: slow };
        return proc;
      };
      const all = Array.from({ length: procs }, enter);
      // Each process starts with different tasks, as `guild run` does.
      const own = (g: number): Set<string> => new Set(NAMES.filter((_, n) => n % procs === g));
      await Promise.all(all.map((proc, g) => passOver(proc, own(g))));
      for (const proc of all.slice(1)) proc.die();
      await untilQuiet(all[0]!, 400);
      assert.ok(highest <= most, `round ${round}, SEED=${SEED}: ${highest} at once`);
      assert.ok(highest > 0);
      assert.equal(disk.list('/w/tasks/completed').filter((name) => /^t\d\.json$/.test(name)).length, NAMES.length);
    }
  });
}

/** Passes of a process that keeps running: its writes reach the disk later. */
async function passOver(proc: Proc, roots: ReadonlySet<string>): Promise<void> {
  for (let quiet = 0, passes = 0; quiet < 2; passes++) {
    assert.ok(passes < 400, 'still moving after 400 passes');
    const { moved } = await proc.engine.pass(quiet === 0 ? 'none' : 'changed', () => undefined, roots);
    await Promise.all([...proc.engine.flights.values()].map((flight) => flight.done));
    quiet = moved ? 0 : quiet + 1;
  }
}

async function pause(random: () => number, most: number): Promise<void> {
  for (let turns = Math.floor(random() * most); turns > 0; turns--) await new Promise(setImmediate);
}

/** Syncs take a random time, so that other processes run in between. */
function dawdling(disk: Disk, random: () => number): Disk {
  return {
    ...disk,
    async sync(file) {
      await pause(random, 4);
      await disk.sync(file);
    },
    async syncFolder(folder) {
      await pause(random, 4);
      await disk.syncFolder(folder);
    },
  };
}

test('on a real disk the order of two claims is known', async (t) => {
  const root = tempFolder('room', t);
  const join = (): Store => files({ root, disk: realDisk(), clock: clock(), ids: ids(), processes: processes() });
  const [one, two] = [join(), join()];
  // The tasks are created in reverse order, so only the claims can decide.
  for (const id of ['b', 'a']) fs.writeFileSync(path.join(root, `tasks/pending/${id}.json`), '{"description": "x"}');
  await Promise.all([one.tasks.scan(true), two.tasks.scan(true)]);
  assert.ok(await one.tasks.claim('a', 'an_a'));
  assert.ok(await two.tasks.claim('b', 'an_a'));
  for (const store of [one, two]) {
    const claims = (await store.tasks.claimsFor('an_a')).sort((a, b) => (a.task < b.task ? -1 : 1));
    assert.deepEqual(
      claims.map(({ task, peer }) => [task, peer]),
      [
        ['a', one.presence.peer.id],
        ['b', two.presence.peer.id],
      ],
    );
    assert.ok(claims[0]!.since <= claims[1]!.since);
    assert.deepEqual(await store.tasks.claimsFor('ana'), []);
  }
  await Promise.all([one.close(), two.close()]);
});
