/** Task files as they should not be: each is dealt with as it deserves, once, and its neighbours are done. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Problem } from '../../../src/domain/problem.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { lay } from '../../kit/stories.js';

interface Begun {
  disk: SimDisk;
  proc: Proc;
  told: Problem[];
  text(file: string): string | undefined;
}

/** A workspace with one good task, and this file beside it. */
function beside(file: string, text: string): Begun {
  const disk = simDisk();
  const agents = { ana: '---\ndescription: A\n---\nDo it.\n' };
  const script = '- {agent: ana, say: done}';
  lay(disk, {
    name: '',
    agents,
    tasks: { good: { description: 'Good' } },
    files: { [file]: text },
    script,
    results: {},
    calls: 0,
  });
  const told: Problem[] = [];
  const proc = cluster(script).start(disk, { watchers: { problem: (one) => told.push(one) } });
  return { disk, proc, told, text: (name) => disk.tree().get(path.join(ROOT, name)) };
}

async function ended(proc: Proc, id: string): Promise<string | undefined> {
  return (await proc.ports.tasks.read(id))?.state;
}

for (const [what, text, said] of [
  ['torn', '{"description": "Half a', /does not end/],
  ['of a future version', '{"description": "From tomorrow", "version": 99}', /newer Guildhall/],
] as const) {
  test(`a file that is ${what} is held: not touched, told once, and its neighbour is done`, async () => {
    const file = 'tasks/pending/bad.json';
    const { proc, told, text: now, disk } = beside(file, text);
    await untilQuiet(proc);
    await untilQuiet(proc);
    assert.equal(await ended(proc, 'good'), 'completed');
    assert.equal(now(file), text);
    assert.equal(told.filter((one) => said.test(one.message)).length, 1);
    disk.save(path.join(ROOT, file), '{"description": "Mended"}');
    await untilQuiet(proc);
    assert.equal(await ended(proc, 'bad'), 'completed', 'when it can be read, it is done');
  });
}

test('a file that is huge is set aside with its bytes, and its neighbour is done', async () => {
  const text = JSON.stringify({ description: 'x'.repeat(2 * 1024 * 1024) });
  const { proc, told, disk } = beside('tasks/pending/bad.json', text);
  await untilQuiet(proc);
  assert.equal(await ended(proc, 'good'), 'completed');
  assert.equal(told.filter((one) => /more than a task may have/.test(one.message)).length, 1);
  const aside = [...disk.tree()].find(([name, kept]) => name.includes('/quarantine/') && kept === text);
  assert.ok(aside, 'the original bytes are kept');
});

test('a second file with the same id is set aside, and the task is done once', async () => {
  const { proc, told, disk } = beside('tasks/pending/copy-of-good.json', '{"id": "good", "description": "Good again"}');
  await untilQuiet(proc);
  assert.equal(await ended(proc, 'good'), 'completed');
  assert.equal(told.filter((one) => one.code === 'duplicate').length, 1);
  assert.ok([...disk.tree().keys()].some((name) => name.includes('/quarantine/') && name.includes('copy-of-good')));
});

for (const name of ['lone_ana-nobodyknows.json', 'lone_ana.json', 'lone_TaskBreakdownAgent_12ab34cd.json']) {
  test(`a task claimed by nobody known (${name}) goes back, and is done`, async () => {
    const { proc } = beside(
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
const PART = 'tasks/pending/q.advisor-ana.json';

/** The file of an advisor's part is torn while its task waits for it; `before`: a process saw it whole. */
async function torn(before: boolean): Promise<Begun & { whole: string }> {
  const disk = simDisk();
  const files = { 'storage/paused/ana': '' };
  const tasks = { q: { description: 'Q', to: 'boss' } };
  lay(disk, { name: '', agents: BOSS, tasks, files, script: ADVICE, results: {}, calls: 0 });
  const told: Problem[] = [];
  const world = cluster(ADVICE);
  const first = world.start(disk);
  await untilQuiet(first);
  const text = (name: string): string | undefined => disk.tree().get(path.join(ROOT, name));
  const whole = text(PART)!;
  disk.save(path.join(ROOT, PART), whole.slice(0, whole.length / 2));
  disk.remove(path.join(ROOT, 'storage/paused/ana'));
  if (!before) await first.store.close();
  const proc = before ? first : world.start(disk, { watchers: { problem: (one) => told.push(one) } });
  return { disk, proc, told, text, whole };
}

for (const before of [true, false]) {
  const seen = before ? 'and was seen whole' : 'and was never seen whole';
  test(`a part whose file is torn ${seen}: its task waits quietly, says for what, and goes on when it is mended`, async () => {
    const { disk, proc, text, whole } = await torn(before);
    const { store } = proc;
    await untilQuiet(proc);
    const claims = (await store.events.list({ task: 'q' })).length;
    for (let pass = 0; pass < 5; pass++) assert.equal((await proc.engine.pump()).moved, false);
    assert.equal((await store.events.list({ task: 'q' })).length, claims, 'no line of history while nothing changes');
    assert.equal(text(PART), whole.slice(0, whole.length / 2), 'nobody touched the file');
    const [waiting] = [...store.tasks.open()].filter(({ task }) => task.id === 'q');
    assert.equal(waiting?.state, 'waiting');
    assert.deepEqual(waiting.task.waits?.tasks, ['q.advisor-ana']);
    assert.equal(store.tasks.isOpen('q.advisor-ana'), true);
    assert.match(store.tasks.unreadable('q.advisor-ana')!.message, /does not end/);
    disk.save(path.join(ROOT, PART), whole);
    await untilQuiet(proc);
    assert.deepEqual([await ended(proc, 'q.advisor-ana'), await ended(proc, 'q')], ['completed', 'completed']);
  });
}

test('a torn part that its person takes away is made anew', async () => {
  const { disk, proc } = await torn(true);
  await untilQuiet(proc);
  disk.remove(path.join(ROOT, PART));
  await untilQuiet(proc);
  assert.equal(await ended(proc, 'q'), 'completed');
  assert.equal(proc.ports.tasks.isOpen('q.advisor-ana'), false);
});
