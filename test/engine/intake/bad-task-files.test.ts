/** Invalid task files: each is handled once, without effect on the other tasks. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Problem } from '../../../src/domain/problem.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

interface Setup {
  disk: SimDisk;
  proc: Proc;
  problems: Problem[];
  text(file: string): string | undefined;
}

/** A workspace with one valid task and this file. */
function withFile(file: string, text: string): Setup {
  const disk = simDisk();
  const agents = { ana: '---\ndescription: A\n---\nDo it.\n' };
  const script = '- {agent: ana, say: done}';
  writeStory(disk, {
    name: '',
    agents,
    tasks: { good: { description: 'Good' } },
    files: { [file]: text },
    script,
    results: {},
    calls: 0,
  });
  const problems: Problem[] = [];
  const proc = cluster(script).start(disk, { watchers: { problem: (problem) => problems.push(problem) } });
  return { disk, proc, problems, text: (name) => disk.tree().get(path.join(ROOT, name)) };
}

async function ended(proc: Proc, id: string): Promise<string | undefined> {
  return (await proc.ports.tasks.read(id))?.state;
}

for (const [what, text, expected] of [
  ['truncated', '{"description": "Half a', /does not end/],
  ['future-version', '{"description": "From tomorrow", "version": 99}', /newer Guildhall/],
] as const) {
  test(`a ${what} file stays untouched, is reported once and does not stop other tasks`, async () => {
    const file = 'tasks/pending/bad.json';
    const { proc, problems, text: now, disk } = withFile(file, text);
    await untilQuiet(proc);
    await untilQuiet(proc);
    assert.equal(await ended(proc, 'good'), 'completed');
    assert.equal(now(file), text);
    assert.equal(problems.filter(({ message }) => expected.test(message)).length, 1);
    disk.save(path.join(ROOT, file), '{"description": "Fixed"}');
    await untilQuiet(proc);
    assert.equal(await ended(proc, 'bad'), 'completed', 'once readable, it runs');
  });
}

test('an oversized file is quarantined unchanged and does not stop other tasks', async () => {
  const text = JSON.stringify({ description: 'x'.repeat(2 * 1024 * 1024) });
  const { proc, problems, disk } = withFile('tasks/pending/bad.json', text);
  await untilQuiet(proc);
  assert.equal(await ended(proc, 'good'), 'completed');
  assert.equal(problems.filter(({ message }) => /more than a task may have/.test(message)).length, 1);
  const quarantined = [...disk.tree()].find(([name, kept]) => name.includes('/quarantine/') && kept === text);
  assert.ok(quarantined, 'the original bytes are kept');
});

test('a second file with the same id is quarantined, and the task runs once', async () => {
  const { proc, problems, disk } = withFile(
    'tasks/pending/copy-of-good.json',
    '{"id": "good", "description": "Good again"}',
  );
  await untilQuiet(proc);
  assert.equal(await ended(proc, 'good'), 'completed');
  assert.equal(problems.filter(({ code }) => code === 'duplicate').length, 1);
  assert.ok([...disk.tree().keys()].some((name) => name.includes('/quarantine/') && name.includes('copy-of-good')));
});

for (const name of ['lone_ana-nobodyknows.json', 'lone_ana.json', 'lone_TaskBreakdownAgent_12ab34cd.json']) {
  test(`a task claimed by an unknown process (${name}) is released and runs`, async () => {
    const { proc } = withFile(
      `tasks/active/${name}`,
      '{"id": "lone", "description": "Left behind", "claimed_by": "gone"}',
    );
    await untilQuiet(proc);
    assert.deepEqual([await ended(proc, 'good'), await ended(proc, 'lone')], ['completed', 'completed']);
    assert.deepEqual([...proc.ports.tasks.open()], []);
  });
}

const BOSS = {
  boss: '---\ndescription: B\nadvisors: [ana]\n---\nDo it.\n',
  ana: '---\ndescription: A\n---\nAdvise.\n',
};
const ADVICE = '- {agent: ana, say: advice}\n- {agent: boss, say: done}';
const CHILD = 'tasks/pending/q.advisor-ana.json';

/** Truncates the file of a child that its parent waits for. `before`: it has been read before. */
async function truncated(before: boolean): Promise<Setup & { whole: string }> {
  const disk = simDisk();
  const files = { 'storage/paused/ana': '' };
  const tasks = { q: { description: 'Q', to: 'boss' } };
  writeStory(disk, { name: '', agents: BOSS, tasks, files, script: ADVICE, results: {}, calls: 0 });
  const problems: Problem[] = [];
  const world = cluster(ADVICE);
  const first = world.start(disk);
  await untilQuiet(first);
  const text = (name: string): string | undefined => disk.tree().get(path.join(ROOT, name));
  const whole = text(CHILD)!;
  disk.save(path.join(ROOT, CHILD), whole.slice(0, whole.length / 2));
  disk.remove(path.join(ROOT, 'storage/paused/ana'));
  if (!before) await first.store.close();
  const proc = before ? first : world.start(disk, { watchers: { problem: (problem) => problems.push(problem) } });
  return { disk, proc, problems, text, whole };
}

for (const before of [true, false]) {
  const seen = before ? 'after' : 'before';
  test(`a child's file truncated ${seen} it was read: the parent waits quietly and continues once it is fixed`, async () => {
    const { disk, proc, text, whole } = await truncated(before);
    const { store } = proc;
    await untilQuiet(proc);
    const claims = (await store.events.list({ task: 'q' })).length;
    for (let pass = 0; pass < 5; pass++) assert.equal((await proc.engine.pump()).moved, false);
    assert.equal((await store.events.list({ task: 'q' })).length, claims, 'no events while nothing changes');
    assert.equal(text(CHILD), whole.slice(0, whole.length / 2), 'the file is untouched');
    const [waiting] = [...store.tasks.open()].filter(({ task }) => task.id === 'q');
    assert.equal(waiting?.state, 'waiting');
    assert.deepEqual(waiting.task.waits?.tasks, ['q.advisor-ana']);
    assert.equal(store.tasks.isOpen('q.advisor-ana'), true);
    assert.match(store.tasks.unreadable('q.advisor-ana')!.message, /does not end/);
    disk.save(path.join(ROOT, CHILD), whole);
    await untilQuiet(proc);
    assert.deepEqual([await ended(proc, 'q.advisor-ana'), await ended(proc, 'q')], ['completed', 'completed']);
  });
}

test('a truncated child that a person removes is created again', async () => {
  const { disk, proc } = await truncated(true);
  await untilQuiet(proc);
  disk.remove(path.join(ROOT, CHILD));
  await untilQuiet(proc);
  assert.equal(await ended(proc, 'q'), 'completed');
  assert.equal(proc.ports.tasks.isOpen('q.advisor-ana'), false);
});
