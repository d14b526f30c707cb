/**
 * A task whose conversation cannot be read is reported once and continues when the file is fixed.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import type { Problem } from '../../../src/domain/problem.js';
import { cluster, ROOT, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const FILE = path.join(ROOT, 'sessions/talk.session.yaml');
const GOOD = 'agent_id: ana\nmessages: []\n';
const SCRIPT = '- {agent: ana, say: done}';

test('a conversation with merge conflicts is reported once, and its task continues when it is fixed', async () => {
  const disk = simDisk();
  writeStory(disk, {
    name: '',
    agents: { ana: '---\ndescription: A\n---\nDo it.\n' },
    tasks: { one: { description: 'One', session: 'talk' }, other: { description: 'Other' } },
    files: { 'sessions/talk.session.yaml': `${GOOD}<<<<<<< ours\n` },
    script: SCRIPT,
    results: {},
    calls: 0,
  });
  const problems: Problem[] = [];
  const events: Event[] = [];
  const watchers = {
    problem: (problem: Problem) => void problems.push(problem),
    event: (event: Event) => void events.push(event),
  };
  const proc = cluster(SCRIPT).start(disk, { watchers });
  const { store } = proc;
  const { clock } = proc.ports;
  for (let times = 0; times < 5; times++) {
    const { due } = await untilQuiet(proc);
    assert.ok(due !== undefined && due > clock.now().getTime(), 'the next check is in the future');
    await clock.sleep(due - clock.now().getTime());
  }
  assert.equal((await store.tasks.read('other'))?.state, 'completed');
  assert.deepEqual(
    problems.map(({ message, where }) => [message, where?.file, where?.line]),
    [['the file has an unresolved merge conflict', 'sessions/talk.session.yaml', 3]],
  );
  const ofOne = events.flatMap(({ name, task }) => (task === 'one' ? name : []));
  assert.deepEqual(ofOne, ['task.claimed', 'task.parked', 'file.held']);
  assert.equal((await store.tasks.read('one'))?.task.waits?.file, 'sessions/talk.session.yaml');
  disk.save(FILE, `${GOOD}>>>>>>> theirs\n`);
  await untilQuiet(proc);
  assert.equal(problems.length, 2, 'a new fault is reported');
  disk.save(FILE, GOOD);
  await clock.sleep(2000);
  await untilQuiet(proc);
  assert.equal((await store.tasks.read('one'))?.state, 'completed');
});

test('a conversation that is fixed while its task is being parked is read again', async () => {
  const disk = simDisk();
  writeStory(disk, {
    name: '',
    agents: { ana: '---\ndescription: A\n---\nDo it.\n' },
    tasks: { one: { description: 'One', session: 'talk' } },
    files: { 'sessions/talk.session.yaml': `${GOOD}<<<<<<< ours\n` },
    script: SCRIPT,
    results: {},
    calls: 0,
  });
  const watchers = { problem: () => disk.save(FILE, GOOD) };
  const proc = cluster(SCRIPT).start(disk, { watchers });
  await untilQuiet(proc);
  await proc.ports.clock.sleep(2000);
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('one'))?.state, 'completed');
});
