/** A message appended to an ended conversation is answered once, whenever the process dies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashDisk } from '../kit/crash-disk.js';
import { cluster, ROOT, untilQuiet } from '../kit/cluster.js';
import { sampleNumbers } from '../kit/sample.js';
import { simDisk } from '../kit/sim-disk.js';

const FILE = `${ROOT}/sessions/ana-ask.session.yaml`;

test('the follow-up exists once, with a crash at every change', async () => {
  for (const n of sampleNumbers('appended')) {
    const disk = simDisk();
    for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
    disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
    disk.save(`${ROOT}/tasks/pending/ask.json`, JSON.stringify({ description: 'Which first?', to: 'ana' }));
    const world = cluster('- {agent: ana, when: And the second, say: Two.}\n- {agent: ana, say: One.}\n');
    const first = world.start(disk);
    await untilQuiet(first);
    first.die();
    disk.save(FILE, `${disk.tree().get(FILE)!}  - role: user\n    content: And the second?\n`);
    const failing = crashDisk(disk, n);
    const dying = world.start(failing);
    await untilQuiet(dying).catch(() => undefined);
    dying.die();
    const last = world.start(disk);
    await untilQuiet(last);
    last.die();
    const ended = disk.list(`${ROOT}/tasks/completed`);
    assert.equal(ended.length, 2, `change ${n}: ${ended.join(' ')}`);
    assert.equal(
      disk
        .tree()
        .get(FILE)!
        .match(/content: Two\./g)?.length,
      1,
      `change ${n}`,
    );
    for (const folder of ['pending', 'active', 'waiting', 'failed'])
      assert.deepEqual(disk.list(`${ROOT}/tasks/${folder}`), [], `change ${n}: ${folder}`);
    if (failing.count() < n) return assert.ok(n > 10, `only ${n} changes`);
  }
});
