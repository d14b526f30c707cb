/** Task files as they should not be: each is dealt with as it deserves, once, and its neighbours are done. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Problem } from '../../../src/domain/problem.js';
import { hall, ROOT, untilQuiet, type Guest } from '../../kit/hall.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { lay } from '../../kit/stories.js';

interface Begun {
  disk: SimDisk;
  guest: Guest;
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
  const guest = hall(script).enter(disk, { watchers: { problem: (one) => told.push(one) } });
  return { disk, guest, told, text: (name) => disk.tree().get(path.join(ROOT, name)) };
}

async function ended(guest: Guest, id: string): Promise<string | undefined> {
  return (await guest.parts.store.read(id))?.state;
}

for (const [what, text, said] of [
  ['torn', '{"description": "Half a', /does not end/],
  ['of a future version', '{"description": "From tomorrow", "version": 99}', /newer Guildhall/],
] as const) {
  test(`a file that is ${what} is held: not touched, told once, and its neighbour is done`, async () => {
    const file = 'tasks/pending/bad.json';
    const { guest, told, text: now, disk } = beside(file, text);
    await untilQuiet(guest);
    await untilQuiet(guest);
    assert.equal(await ended(guest, 'good'), 'completed');
    assert.equal(now(file), text);
    assert.equal(told.filter((one) => said.test(one.message)).length, 1);
    disk.save(path.join(ROOT, file), '{"description": "Mended"}');
    await untilQuiet(guest);
    assert.equal(await ended(guest, 'bad'), 'completed', 'when it can be read, it is done');
  });
}

test('a file that is huge is set aside with its bytes, and its neighbour is done', async () => {
  const text = JSON.stringify({ description: 'x'.repeat(2 * 1024 * 1024) });
  const { guest, told, disk } = beside('tasks/pending/bad.json', text);
  await untilQuiet(guest);
  assert.equal(await ended(guest, 'good'), 'completed');
  assert.equal(told.filter((one) => /more than a task may have/.test(one.message)).length, 1);
  const aside = [...disk.tree()].find(([name, kept]) => name.includes('/quarantine/') && kept === text);
  assert.ok(aside, 'the original bytes are kept');
});

test('a second file with the same id is set aside, and the task is done once', async () => {
  const { guest, told, disk } = beside(
    'tasks/pending/copy-of-good.json',
    '{"id": "good", "description": "Good again"}',
  );
  await untilQuiet(guest);
  assert.equal(await ended(guest, 'good'), 'completed');
  assert.equal(told.filter((one) => one.code === 'duplicate').length, 1);
  assert.ok([...disk.tree().keys()].some((name) => name.includes('/quarantine/') && name.includes('copy-of-good')));
});

for (const name of ['lone_ana-nobodyknows.json', 'lone_ana.json', 'lone_TaskBreakdownAgent_12ab34cd.json']) {
  test(`a task claimed by nobody known (${name}) goes back, and is done`, async () => {
    const { guest } = beside(
      `tasks/active/${name}`,
      '{"id": "lone", "description": "Left behind", "claimed_by": "gone"}',
    );
    await untilQuiet(guest);
    assert.deepEqual([await ended(guest, 'good'), await ended(guest, 'lone')], ['completed', 'completed']);
    assert.deepEqual([...guest.parts.store.open()], []);
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
  const { enter } = hall(ADVICE);
  const first = enter(disk);
  await untilQuiet(first);
  const text = (name: string): string | undefined => disk.tree().get(path.join(ROOT, name));
  const whole = text(PART)!;
  disk.save(path.join(ROOT, PART), whole.slice(0, whole.length / 2));
  disk.remove(path.join(ROOT, 'storage/paused/ana'));
  if (!before) await first.parts.store.close();
  const guest = before ? first : enter(disk, { watchers: { problem: (one) => told.push(one) } });
  return { disk, guest, told, text, whole };
}

for (const before of [true, false]) {
  const seen = before ? 'and was seen whole' : 'and was never seen whole';
  test(`a part whose file is torn ${seen}: its task waits quietly, says for what, and goes on when it is mended`, async () => {
    const { disk, guest, text, whole } = await torn(before);
    const { store } = guest.parts;
    await untilQuiet(guest);
    const claims = (await store.events({ task: 'q' })).length;
    for (let pass = 0; pass < 5; pass++) assert.equal((await guest.engine.pump()).moved, false);
    assert.equal((await store.events({ task: 'q' })).length, claims, 'no line of history while nothing changes');
    assert.equal(text(PART), whole.slice(0, whole.length / 2), 'nobody touched the file');
    const [waiting] = [...store.open()].filter(({ task }) => task.id === 'q');
    assert.equal(waiting?.state, 'waiting');
    assert.deepEqual(waiting.task.waits?.tasks, ['q.advisor-ana']);
    assert.equal(store.isOpen('q.advisor-ana'), true);
    assert.match(store.heldFile('q.advisor-ana')!.message, /does not end/);
    disk.save(path.join(ROOT, PART), whole);
    await untilQuiet(guest);
    assert.deepEqual([await ended(guest, 'q.advisor-ana'), await ended(guest, 'q')], ['completed', 'completed']);
  });
}

test('a torn part that its person takes away is made anew', async () => {
  const { disk, guest } = await torn(true);
  await untilQuiet(guest);
  disk.remove(path.join(ROOT, PART));
  await untilQuiet(guest);
  assert.equal(await ended(guest, 'q'), 'completed');
  assert.equal(guest.parts.store.isOpen('q.advisor-ana'), false);
});
