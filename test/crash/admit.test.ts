/** A message that the human must let in: dying at any change, before or after the answer, makes exactly one task of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk } from '../../src/ports/disk.js';
import { crashDisk } from '../kit/crash-disk.js';
import { cluster, ROOT, untilQuiet, type Cluster } from '../kit/cluster.js';
import { sampleNumbers } from '../kit/sample.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';

const BALLOT = `${ROOT}/tasks/approvals.task.md`;

test('asked, ticked, and let in once, with a death at every change', async () => {
  for (const n of sampleNumbers('admit')) {
    const disk = simDisk();
    for (const folder of ['agents', 'inbox']) disk.makeFolder(`${ROOT}/${folder}`);
    disk.save(`${ROOT}/agents/planner.md`, '---\ndescription: p\n---\nWork.\n');
    disk.save(`${ROOT}/inbox/slack-messages.jsonl`, '{"from":"sarah","text":"let me in"}\n');
    const house = cluster('- {agent: planner, say: Noted.}\n');
    const failing = crashDisk(disk, n);
    await play(house, failing, disk).catch(() => undefined);
    await play(house, disk, disk);
    await play(house, disk, disk);
    const ended = disk.list(`${ROOT}/tasks/completed`).sort();
    assert.equal(ended.length, 2, `change ${n}: ${ended.join(' ')}`);
    assert.match(ended.join(' '), /^(inbox-slack-messages-\w+)\.admit\.json \1\.json$/);
    assert.ok(house.calls.length >= 1 && house.calls.length <= 2, `change ${n}: ${house.calls.length} model calls`);
    for (const folder of ['pending', 'active', 'waiting', 'failed'])
      assert.deepEqual(disk.list(`${ROOT}/tasks/${folder}`), [], `change ${n}: ${folder}`);
    if (failing.count() < n) return assert.ok(n > 20, `only ${n} changes`);
  }
});

/** One process: pumps, then the human ticks what stands on the ballot, then it pumps again. */
async function play(house: Cluster, on: Disk, real: SimDisk): Promise<void> {
  const proc = house.start(on, { config: { inbox: { admit: 'ask' } } });
  try {
    await untilQuiet(proc);
    const text = real.tree().get(BALLOT);
    if (text?.includes('- [_]')) real.save(BALLOT, text.replace('- [_]', '- [x]'));
    await untilQuiet(proc);
  } finally {
    proc.die();
  }
}
