/** The file of an intent stays until everything that was done because of it is durable. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files } from '../../../src/adapters/files/index.js';
import type { Disk } from '../../../src/ports/disk.js';
import type { Store } from '../../../src/ports/store/index.js';
import { header, task, user } from '../../contract/store/bench.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { countedIds, simProcesses } from '../../kit/sim-processes.js';
import { until } from '../../kit/until.js';

interface Scene {
  sim: SimDisk;
  store: Store;
  /** Syncs of the journal wait until this is called; with a reason they fail. */
  release(failure?: Error): void;
}

/** A process that works on t, has written a message and has acted on the intent `i1`. */
async function acted(): Promise<Scene> {
  const sim = simDisk();
  let release = (_?: Error): void => undefined;
  let gate = Promise.resolve();
  const disk: Disk = {
    ...sim,
    async sync(file) {
      if (file.includes('/journal/')) await gate;
      return sim.sync(file);
    },
  };
  const store = files({ root: '/w', disk, clock: simClock(), ids: countedIds(), processes: simProcesses().start() });
  await store.intents.submit({
    kind: 'tell',
    id: 'i1',
    task: 't',
    by: 'human',
    at: '2026-01-01T00:00:00Z',
    text: 'Hi',
  });
  await store.tasks.create(task('t', { session: 's' }));
  await store.tasks.claim('t', 'ana');
  await store.sessions.create(header('s'), [user('start')]);
  await store.flush();
  gate = new Promise((resolve, reject) => (release = (failure) => (failure ? reject(failure) : resolve())));
  gate.catch(() => undefined);
  assert.equal(await store.sessions.append('s', [user('Hi')], { durable: false }), 'written');
  await store.intents.done('i1');
  return { sim, store, release };
}

const kept = (sim: SimDisk): number => sim.list('/w/.guild/intents').length;

test('an intent that is done is not listed again, and its file goes after the line of the journal is durable', async () => {
  const { sim, store, release } = await acted();
  assert.deepEqual(await store.intents.list(), []);
  assert.equal(kept(sim), 1);
  release();
  await until(() => kept(sim) === 0);
  assert.deepEqual(await store.intents.list(), []);
  await store.close();
});

test('flush and close wait until the files of intents that are done are gone', async () => {
  for (const wait of ['flush', 'close'] as const) {
    const { sim, store, release } = await acted();
    const waiting = store[wait]();
    release();
    await waiting;
    assert.equal(kept(sim), 0, wait);
  }
});

test('if the journal fails, the intent stays for the next process', async () => {
  const { sim, store, release } = await acted();
  release(Object.assign(new Error('EIO'), { code: 'EIO' }));
  await store.close();
  assert.equal(kept(sim), 1);
});
