/** One run of a story in which change N fails, and a second process that continues. */
import assert from 'node:assert/strict';
import { crashDisk, type Fault } from '../kit/crash-disk.js';
import type { Disk } from '../../src/ports/disk.js';
import type { Lag } from '../../src/adapters/files/base/lag.js';
import { cluster, play, WHEN_ASKED, type Proc } from '../kit/cluster.js';
import { outcome } from '../kit/outcome.js';
import { simDisk } from '../kit/sim-disk.js';
import { writeStory, type Story } from '../kit/stories.js';

/**
 * False when the story has fewer than `n` changes, so that nothing failed. `as`: how the processes
 * work.
 */
export async function failAt(
  story: Story,
  n: number,
  fault: Fault,
  lag: Lag = WHEN_ASKED,
  as?: (proc: Proc) => Proc,
): Promise<boolean> {
  const disk = simDisk();
  writeStory(disk, story);
  const world = cluster(story.script, story.asks, lag);
  const failing = crashDisk(disk, n, fault);
  const start = (on: Disk): Proc => (as ?? ((proc: Proc) => proc))(world.start(on));
  let failed = false;
  try {
    const first = start(failing);
    try {
      await play(first, story, disk);
    } finally {
      first.die();
    }
  } catch {
    failed = true;
  }
  const second = start(disk);
  await play(second, story, disk);
  second.die();
  assert.deepEqual(outcome(disk, story), [], `${fault} at change ${n}`);
  // Only calls in flight at the failure may be paid again. A process that follows stages asks the
  // next model in the same turn of the event loop in which an answer came, before the journal has
  // its line. That answer can be lost, too.
  const lost = as === undefined ? 2 : 3;
  const most = story.calls + (story.slack ?? 0) + (failed ? lost : 0);
  assert.ok(world.calls.length <= most, `${fault} at ${n}: ${world.calls.length} model calls`);
  return failing.count() >= n;
}
