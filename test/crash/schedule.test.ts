/** Each due time gets one run, no matter when the process that decides dies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk } from '../../src/ports/disk.js';
import { crashDisk } from '../kit/crash-disk.js';
import { cluster, ROOT, untilQuiet, type Cluster } from '../kit/cluster.js';
import { sampleNumbers } from '../kit/sample.js';
import { simDisk } from '../kit/sim-disk.js';

const HOUR = 3_600_000;

test('each due time gets exactly one run, with a crash at every change', async () => {
  for (const n of sampleNumbers('schedule')) {
    const disk = simDisk();
    for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
    disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
    disk.save(
      `${ROOT}/guild.yaml`,
      'timezone: UTC\nschedules: {hourly: {schedule: "0 * * * *", agent: ana, task: Look, missed: once}}\n',
    );
    const world = cluster('- {agent: ana, say: Done.}\n');
    const failing = crashDisk(disk, n);
    await hours(world, failing, 2).catch(() => undefined);
    await hours(world, disk, 1);
    const runs = disk.list(`${ROOT}/tasks/completed`);
    assert.ok(runs.length >= 1 && runs.length <= 3, `change ${n}: ${runs.join(' ')}`);
    assert.equal(new Set(runs).size, runs.length);
    for (const folder of ['pending', 'active', 'failed'])
      assert.deepEqual(disk.list(`${ROOT}/tasks/${folder}`), [], `change ${n}: ${folder}`);
    assert.deepEqual(disk.list(`${ROOT}/tasks/waiting`), ['schedule-hourly.json'], `change ${n}`);
    assert.ok(world.calls.length <= runs.length + 1, `change ${n}: ${world.calls.length} model calls`);
    if (failing.count() < n) return assert.ok(n > 20, `only ${n} changes`);
  }
});

/** One process: it works, and time passes in steps of an hour. */
async function hours(world: Cluster, on: Disk, count: number): Promise<void> {
  const proc = world.start(on);
  try {
    await untilQuiet(proc);
    for (let hour = 0; hour < count; hour++) {
      await proc.ports.clock.sleep(HOUR);
      await untilQuiet(proc);
    }
  } finally {
    proc.die();
  }
}
