/** Under load a process takes less new work rather than fall further behind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files } from '../../../src/adapters/files/index.js';
import { WHEN_ASKED } from '../../kit/cluster.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk } from '../../kit/sim-disk.js';
import { countedIds, simProcesses } from '../../kit/sim-processes.js';
import { record } from './journal/ground.js';

for (const [waitedMs, isPlaced] of [
  [400, false],
  [600, true],
] as const) {
  test(`a file that has waited for ${waitedMs} ms ${isPlaced ? 'is placed' : 'may wait'} before the next claim`, async () => {
    const disk = simDisk();
    const clock = simClock();
    const processes = simProcesses().start();
    const store = files({ root: '/w', disk, clock, ids: countedIds(), processes, lag: WHEN_ASKED });
    for (const id of ['one', 'two']) disk.save(`/w/tasks/pending/${id}.json`, record(id));
    await store.tasks.scan(true);
    const one = (await store.tasks.claim('one', 'ana'))!;
    await store.tasks.settle(one, { ...one.task, result: 'done' }, 'completed', { durable: false });
    await clock.advance(waitedMs);
    assert.ok(await store.tasks.claim('two', 'ana'));
    assert.equal(disk.tree().has('/w/tasks/completed/one.json'), isPlaced);
    await store.close();
    assert.ok(disk.tree().has('/w/tasks/completed/one.json'));
    assert.equal(store.stats().worstLagMs, waitedMs);
  });
}
