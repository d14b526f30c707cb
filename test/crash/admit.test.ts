/** A message that needs approval becomes exactly one task, whenever the process dies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk } from '../../src/ports/disk.js';
import { crashDisk } from '../kit/crash-disk.js';
import { cluster, ROOT, untilQuiet, type Cluster } from '../kit/cluster.js';
import { sampleNumbers } from '../kit/sample.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';

const BALLOT = `${ROOT}/tasks/approvals.task.md`;

test('an approved message becomes one task, with a crash at every change', async () => {
  for (const n of sampleNumbers('admit')) {
    const disk = simDisk();
    for (const folder of ['agents', 'inbox']) disk.makeFolder(`${ROOT}/${folder}`);
    disk.save(`${ROOT}/agents/planner.md`, '---\ndescription: p\n---\nWork.\n');
    disk.save(`${ROOT}/inbox/slack-messages.jsonl`, '{"from":"sarah","text":"let me in"}\n');
    const world = cluster('- {agent: planner, say: Noted.}\n');
    const failing = crashDisk(disk, n);
    await play(world, failing, disk).catch(() => undefined);
    await play(world, disk, disk);
    await play(world, disk, disk);
    const ended = disk.list(`${ROOT}/tasks/completed`).sort();
    assert.equal(ended.length, 2, `change ${n}: ${ended.join(' ')}`);
    assert.match(ended.join(' '), /^(inbox-slack-messages-\w+)\.admit\.json \1\.json$/);
    assert.ok(world.calls.length >= 1 && world.calls.length <= 2, `change ${n}: ${world.calls.length} model calls`);
    for (const folder of ['pending', 'active', 'waiting', 'failed'])
      assert.deepEqual(disk.list(`${ROOT}/tasks/${folder}`), [], `change ${n}: ${folder}`);
    if (failing.count() < n) return assert.ok(n > 20, `only ${n} changes`);
  }
});

/** One process: pumps, then the human ticks the ballot, then it pumps again. */
async function play(world: Cluster, on: Disk, real: SimDisk): Promise<void> {
  const proc = world.start(on, { config: { inbox: { admit: 'ask' } } });
  try {
    await untilQuiet(proc);
    const text = real.tree().get(BALLOT);
    if (text?.includes('- [_]')) real.save(BALLOT, text.replace('- [_]', '- [x]'));
    await untilQuiet(proc);
  } finally {
    proc.die();
  }
}
