/** A conversation that cannot be read: its task is left alone, told once, and goes on when the file is mended. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import type { Problem } from '../../../src/domain/problem.js';
import { cluster, ROOT, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { lay } from '../../kit/stories.js';

const SAID = path.join(ROOT, 'sessions/talk.session.yaml');
const GOOD = 'agent_id: ana\nmessages: []\n';
const SCRIPT = '- {agent: ana, say: done}';

test('a conversation with marks of a merge is told once however often its time comes, and its task goes on when it is mended', async () => {
  const disk = simDisk();
  lay(disk, {
    name: '',
    agents: { ana: '---\ndescription: A\n---\nDo it.\n' },
    tasks: { one: { description: 'One', session: 'talk' }, other: { description: 'Other' } },
    files: { 'sessions/talk.session.yaml': `${GOOD}<<<<<<< ours\n` },
    script: SCRIPT,
    results: {},
    calls: 0,
  });
  const told: Problem[] = [];
  const events: Event[] = [];
  const watchers = { problem: (one: Problem) => void told.push(one), event: (one: Event) => void events.push(one) };
  const proc = cluster(SCRIPT).start(disk, { watchers });
  const { store } = proc;
  const { clock } = proc.ports;
  for (let times = 0; times < 5; times++) {
    const { due } = await untilQuiet(proc);
    assert.ok(due !== undefined && due > clock.now().getTime(), 'it is looked at again, and not at once');
    await clock.sleep(due - clock.now().getTime());
  }
  assert.equal((await store.tasks.read('other'))?.state, 'completed');
  assert.deepEqual(
    told.map(({ message, where }) => [message, where?.file, where?.line]),
    [['the file holds conflict marks of a merge', 'sessions/talk.session.yaml', 3]],
  );
  const ofOne = events.flatMap(({ name, task }) => (task === 'one' ? name : []));
  assert.deepEqual(ofOne, ['task.claimed', 'file.held', 'task.parked']);
  assert.equal((await store.tasks.read('one'))?.task.waits?.file, 'sessions/talk.session.yaml');
  disk.save(SAID, `${GOOD}>>>>>>> theirs\n`);
  await untilQuiet(proc);
  assert.equal(told.length, 2, 'another fault is another matter');
  disk.save(SAID, GOOD);
  await clock.sleep(2000);
  await untilQuiet(proc);
  assert.equal((await store.tasks.read('one'))?.state, 'completed');
});

test('a conversation that is mended while its task is put aside is not taken for the broken one', async () => {
  const disk = simDisk();
  lay(disk, {
    name: '',
    agents: { ana: '---\ndescription: A\n---\nDo it.\n' },
    tasks: { one: { description: 'One', session: 'talk' } },
    files: { 'sessions/talk.session.yaml': `${GOOD}<<<<<<< ours\n` },
    script: SCRIPT,
    results: {},
    calls: 0,
  });
  const watchers = { problem: () => disk.save(SAID, GOOD) };
  const proc = cluster(SCRIPT).start(disk, { watchers });
  await untilQuiet(proc);
  await proc.ports.clock.sleep(2000);
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('one'))?.state, 'completed');
});
