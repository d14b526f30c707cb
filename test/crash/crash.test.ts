/**
 * Every story again, with its process dying at change N, for every N: half of the bytes of that change are written, then
 * nothing more happens. Another process goes on, and the end is the same. Then the same with a full disk, an I/O error and
 * a missing permission at call N.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashDisk, type Fault } from '../kit/crash-disk.js';
import { hall, play } from '../kit/hall.js';
import { outcome } from '../kit/outcome.js';
import { simDisk } from '../kit/sim-disk.js';
import { lay, STORIES } from '../kit/stories.js';

for (const story of STORIES) {
  for (const fault of ['die', 'ENOSPC', 'EIO', 'EACCES'] as Fault[]) {
    test(`${story.name}: ${fault} at every change`, async () => {
      let n = 0;
      for (let more = true; more;) {
        n++;
        const disk = simDisk();
        lay(disk, story);
        const house = hall(story.script, story.asks);
        const failing = crashDisk(disk, n, fault);
        let failed = false;
        try {
          const first = house.enter(failing);
          try {
            await play(first, story, disk);
          } finally {
            first.die();
          }
        } catch {
          failed = true;
        }
        more = failing.count() >= n;
        const second = house.enter(disk);
        await play(second, story, disk);
        second.die();
        const inFlight = failed ? 2 : 0;
        assert.deepEqual(outcome(disk, story), [], `${fault} at change ${n}`);
        assert.ok(
          house.calls.length <= story.calls + inFlight + (story.slack ?? 0),
          `${fault} at ${n}: ${house.calls.length} model calls`,
        );
      }
      assert.ok(n > 20, `only ${n} changes were tried`);
    });
  }

  test(`${story.name}: two deaths, one while recovering from the other`, async () => {
    for (let n = 3; n < 90; n += 7) {
      for (let m = 1; m < 40; m += 3) {
        const disk = simDisk();
        lay(disk, story);
        const house = hall(story.script, story.asks);
        for (const at of [n, m]) {
          const guest = house.enter(crashDisk(disk, at));
          await play(guest, story, disk).catch(() => undefined);
          guest.die();
        }
        const last = house.enter(disk);
        await play(last, story, disk);
        last.die();
        assert.deepEqual(outcome(disk, story), [], `deaths at ${n} and ${m}`);
      }
    }
  });
}
