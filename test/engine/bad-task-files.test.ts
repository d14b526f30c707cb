/** Task files as they should not be: each is dealt with as it deserves, once, and its neighbours are done. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Problem } from '../../src/domain/problem.js';
import { hall, ROOT, untilQuiet, type Guest } from '../kit/hall.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { lay } from '../kit/stories.js';

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
