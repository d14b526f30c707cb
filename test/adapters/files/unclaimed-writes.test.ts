/** Writes that are not under a claim have no journal: they are durable under their names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeTask } from '../../../src/domain/task/task.js';
import type { Disk } from '../../../src/ports/disk.js';
import { simDisk } from '../../kit/sim-disk.js';
import { seeded } from '../../kit/sim-processes.js';
import { AT, ground, type Started } from './journal/ground.js';

const SEEDS = [0, 1, 2, 3, 4, 5];

const WRITES: Record<string, (store: Started) => Promise<unknown>> = {
  'a task': (store) => store.tasks.create(makeTask({ id: 't', description: 'do it', to: 'ana', created_at: AT })),
  'an intent': (store) => store.intents.submit({ kind: 'tell', id: 'i', task: 't', by: 'human', at: AT, text: 'Hi' }),
};

for (const [what, write] of Object.entries(WRITES)) {
  test(`${what} from a process without a claim is under its name after a power cut, and in no journal`, async () => {
    for (const seed of SEEDS) {
      const here = ground();
      await write(here.start());
      assert.deepEqual(here.journals(), []);
      here.disk.powerCut(seeded(seed));
      const next = here.start();
      await next.tasks.scan(true);
      const found = what === 'a task' ? next.tasks.getOpen('t') : (await next.intents.list())[0];
      assert.ok(found !== undefined, `seed ${seed}`);
    }
  });

  test(`${what} from a process without a claim has its bytes on the device before its name`, async () => {
    const sim = simDisk();
    const synced = new Set<string>();
    const named: string[] = [];
    const disk: Disk = {
      ...sim,
      async createSynced(file, bytes) {
        await sim.createSynced(file, bytes);
        synced.add(file);
      },
      link(from, to) {
        named.push(to);
        assert.ok(synced.has(from), `${to} has its name before its bytes`);
        return sim.link(from, to);
      },
      async syncFolder(folder) {
        await sim.syncFolder(folder);
        synced.add(folder);
      },
    };
    await write(ground(sim).start({ disk }));
    const [file] = named;
    assert.ok(file !== undefined && named.length === 1, named.join());
    assert.ok(synced.has(file.slice(0, file.lastIndexOf('/'))), `the folder of ${file}`);
  });
}
