/**
 * Tasks in memory that are not on the disk yet: how other processes continue when the process dies,
 * fails or is slow.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk } from '../../src/ports/disk.js';
import { makeTask } from '../../src/domain/task/task.js';
import { crashDisk } from '../kit/crash-disk.js';
import { cluster, ROOT, untilQuiet, type Proc, type Cluster } from '../kit/cluster.js';
import { sampleOf, sampleRounds } from '../kit/sample.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { turn } from '../kit/until.js';
import { writeStory } from '../kit/stories.js';
import { agent } from '../kit/stories/story.js';

const SCRIPT = `
- {agent: legal, say: It is lawful.}
- {agent: boss, when: It is lawful, say: Yes then.}
`;

function office(lag?: Parameters<typeof cluster>[2]): { disk: SimDisk; world: Cluster } {
  const disk = simDisk();
  const agents = { boss: agent('description: Decides\nadvisors: [legal]'), legal: agent('description: Law') };
  writeStory(disk, {
    name: '',
    agents,
    tasks: { plan: { description: 'Shall we?', to: 'boss' } },
    script: '',
    results: {},
    calls: 0,
  });
  return { disk, world: cluster(SCRIPT, [], lag) };
}

test('a running process continues where another died between the end of a stage and its record', async () => {
  const { disk, world } = office();
  const first = world.start(disk);
  const second = world.start(disk);
  await second.engine.pump(new Set(['none']));
  await first.engine.pump(); // creates the stage, and the task is parked
  assert.deepEqual(disk.list(`${ROOT}/tasks/waiting`), ['plan.json']);
  const { store } = first;
  await store.tasks.scan(true);
  const part = disk.list(`${ROOT}/tasks/pending`)[0]!.slice(0, -'.json'.length);
  const claim = (await store.tasks.claim(part, 'legal'))!;
  assert.equal(
    await store.tasks.settle(claim, { ...claim.task, result: 'It is lawful.' }, 'completed', { durable: false }),
    true,
  );
  await second.ports.tasks.scan();
  assert.equal(second.ports.tasks.isOpen(part), true, 'open for others until its end is there');
  await turn();
  first.die();
  await untilQuiet(second);
  assert.equal((await second.ports.tasks.read('plan'))!.task.result, 'Yes then.');
  assert.equal(world.calls.length, 1, 'the journal had the answer of the stage');
});

test('a failed disk keeps the journaled conversation', async () => {
  const { disk, world } = office();
  let isFull = false;
  const filling: Disk = {
    ...disk,
    create(file, bytes) {
      if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      return disk.create(file, bytes);
    },
  };
  const first = world.start(filling);
  const { store } = first;
  const task = makeTask({ id: 'x', description: 'x', to: 'legal', created_at: '2026-01-01T00:00:00.000Z' });
  await store.tasks.create(task);
  await store.tasks.claim('x', 'legal');
  await turn();
  isFull = true;
  await store.sessions.create(
    { sessionId: 'legal-x', agentId: 'legal', created: task.created_at, status: 'active', task: 'x' },
    [],
    { durable: false },
  );
  await store.sessions.append('legal-x', [{ role: 'assistant', content: 'Dear words' }], { durable: false });
  await assert.rejects(store.flush());
  await store.close();
  first.die();
  const second = world.start(disk);
  await second.ports.presence.sweep();
  assert.match(disk.tree().get(`${ROOT}/sessions/legal-x.session.yaml`) ?? 'nothing', /Dear words/);
});

test('a conversation of a dead process is complete or absent after a power cut', async () => {
  const cases = Array.from({ length: 35 * 12 }, (_, i) => ({ n: 10 + Math.floor(i / 12), seed: i % 12 }));
  for (const { n, seed } of sampleOf('power cut after a sweep', cases, 35)) {
    const { disk, world } = office();
    for (const file of disk.tree().keys()) await disk.sync(file);
    const one = world.start(crashDisk(disk, n));
    await untilQuiet(one).catch(() => undefined);
    one.die();
    const two = world.start(disk);
    await two.ports.presence.sweep();
    two.die();
    disk.powerCut(seeded(seed * 1000 + n));
    const last = world.start(disk);
    await untilQuiet(last, 400);
    assert.equal((await last.ports.tasks.read('plan'))!.task.result, 'Yes then.', `change ${n}, seed ${seed}`);
  }
});

test('an acknowledged end has its children and its page after a crash or a power cut', async () => {
  for (const seed of sampleRounds('acknowledged ends', 40, 5)) {
    const { disk, world } = office();
    const one = world.start(disk);
    await passes(one);
    const ended = disk.list(`${ROOT}/tasks/completed`);
    assert.deepEqual(ended, ['plan.json'], 'its parts have no files yet');
    assert.deepEqual(disk.list(`${ROOT}/results`), ['plan.md']);
    one.die();
    if (seed > 0) disk.powerCut(seeded(seed));
    const two = world.start(disk);
    await two.ports.presence.sweep();
    two.die();
    if (seed > 20) disk.powerCut(seeded(seed + 1000));
    await world.start(disk).ports.presence.sweep();
    const tree = disk.tree();
    assert.deepEqual(
      disk.list(`${ROOT}/tasks/completed`).sort(),
      ['plan.advisor-legal.json', 'plan.json', 'plan.work.json'],
      `seed ${seed}`,
    );
    assert.deepEqual(disk.list(`${ROOT}/tasks/active`), [], `seed ${seed}`);
    assert.match(tree.get(`${ROOT}/results/plan.md`) ?? '', /Yes then/, `seed ${seed}`);
    assert.match(tree.get(`${ROOT}/sessions/legal-plan.advisor-legal.session.yaml`) ?? '', /It is lawful/);
    assert.deepEqual(disk.list(`${ROOT}/.guild/journal`), []);
    assert.equal(world.calls.length, 2);
  }
});

test('an end that the journal has only in part is rebuilt with its page, or not at all', async () => {
  for (let bytes = 0, isWhole = false; !isWhole; bytes += 7) {
    const { disk, world } = office();
    const writeOwn: Disk['writeOwn'] = (file, offset, line) => {
      if (!line.toString().includes('"completed"')) return disk.writeOwn(file, offset, line);
      isWhole = bytes >= Buffer.byteLength(line);
      disk.writeOwn(file, offset, Buffer.from(line).subarray(0, bytes));
      throw new Error('the process is gone');
    };
    const one = world.start({ ...disk, writeOwn });
    await one.ports.tasks.scan(true);
    const claim = (await one.ports.tasks.claim('plan', 'boss'))!;
    const end = one.ports.tasks.settle(claim, { ...claim.task, result: 'Yes then.' }, 'completed');
    await assert.rejects(end);
    one.die();
    await world.start(disk).ports.presence.sweep();
    const isMade = disk.list(`${ROOT}/tasks/completed`).length === 1;
    assert.equal(disk.list(`${ROOT}/results`).length === 1, isMade, `${bytes} bytes`);
    assert.equal(isMade || !isWhole, true);
  }
});

test('a refused end is not restored when its task was deleted', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const { disk, world } = office();
    const one = world.start(disk);
    const { store } = one;
    await store.tasks.scan(true);
    const claim = (await store.tasks.claim('plan', 'boss'))!;
    disk.remove(`${ROOT}/tasks/active/${disk.list(`${ROOT}/tasks/active`)[0]!}`);
    assert.equal(await store.tasks.settle(claim, { ...claim.task, result: 'Yes then.' }, 'completed'), false);
    one.die();
    if (seed > 0) disk.powerCut(seeded(seed));
    await world.start(disk).ports.presence.sweep();
    assert.deepEqual([disk.list(`${ROOT}/tasks/completed`), disk.list(`${ROOT}/results`)], [[], []], `seed ${seed}`);
  }
});

test('deleting a conversation during its sync does not stop the work', async () => {
  const { disk, world } = office();
  const sync: Disk['sync'] = async (file) => {
    if (file.includes('/sessions/')) disk.remove(file);
    await disk.sync(file);
  };
  const { store } = world.start({ ...disk, sync });
  await store.tasks.scan(true);
  const claim = (await store.tasks.claim('plan', 'boss'))!;
  disk.save(`${ROOT}/sessions/boss-plan.session.yaml`, '');
  const task = { ...claim.task, session: 'boss-plan', result: 'Yes then.' };
  assert.equal(await store.tasks.settle(claim, task, 'completed'), true);
});

test('the leftover of a claim on a task that was retried is not a claim', async () => {
  for (const place of ['pending', 'active', 'waiting']) {
    const { disk, world } = office();
    const second = world.start(disk);
    await second.engine.pump(new Set(['none']));
    const first = world.start(disk);
    await first.ports.tasks.scan(true);
    const { task, ...claim } = (await first.ports.tasks.claim('plan', 'boss'))!;
    const error = { code: 'cancelled', message: 'No' } as const;
    const held = disk.list(`${ROOT}/tasks/active`)[0]!;
    await first.ports.tasks.settle({ ...claim, task }, { ...task, error }, 'failed');
    // A version that wrote no journal could leave this behind.
    disk.save(`${ROOT}/tasks/active/${held}.leaving`, JSON.stringify(task));
    first.die();
    const { store } = second;
    assert.ok(await store.tasks.reopen('plan', task));
    const mine = place === 'pending' ? undefined : (await store.tasks.claim('plan', 'boss'))!;
    if (place === 'waiting') await store.tasks.park(mine!, task);
    assert.equal(disk.list(`${ROOT}/tasks/active`).filter((name) => name.endsWith('.leaving')).length, 1);
    const third = world.start(disk);
    await third.ports.presence.sweep();
    await third.ports.tasks.scan(true);
    assert.deepEqual(await third.ports.tasks.orphans(), [], place);
    assert.equal(third.ports.tasks.isOpen('plan'), true, place);
  }
});

test('a running process finds the ends of a dead one and writes their files', async () => {
  for (const find of ['ended', 'scan'] as const) {
    const { disk, world } = office();
    const second = world.start(disk);
    await second.engine.pump(new Set(['none']));
    const first = world.start(disk);
    await passes(first);
    const completed = `${ROOT}/tasks/completed`;
    assert.deepEqual(disk.list(completed), ['plan.json'], 'its parts have no files yet');
    first.die();
    const { store } = second;
    if (find === 'ended') assert.equal((await store.tasks.ended()).length, 3);
    else await store.tasks.scan(true);
    assert.equal(disk.list(completed).length, 3);
    assert.deepEqual(disk.list(`${ROOT}/.guild/journal`), []);
    assert.match(disk.tree().get(`${ROOT}/sessions/legal-plan.advisor-legal.session.yaml`) ?? '', /It is lawful/);
  }
});

test('a task that progressed with each crashed process is not given up', async () => {
  const agents: Record<string, string> = {};
  let script = '';
  for (let i = 1; i <= 6; i++) {
    agents[`s${i}`] = agent(`description: Stage ${i}${i < 6 ? `\nhandoff: s${i + 1}` : ''}`);
    script += `- {agent: s${i}, say: said by ${i}}\n`;
  }
  const disk = simDisk();
  writeStory(disk, { name: '', agents, tasks: { t: { description: 'Go', to: 's1' } }, script, results: {}, calls: 0 });
  const world = cluster(script);
  for (let round = 1; round <= 6; round++) {
    const proc = world.start(mortal(disk, `said by ${round}`));
    await passes(proc).catch(() => undefined);
    proc.die();
  }
  const last = world.start(disk);
  await untilQuiet(last);
  const { state, task } = (await last.ports.tasks.read('t'))!;
  assert.deepEqual([state, task.error?.message, task.result], ['completed', undefined, 'said by 6']);
  assert.equal(world.calls.length, 6);
});

test('parking a task resets its count of crashes', async () => {
  const { disk, world } = office();
  const dieWith = async (): Promise<void> => {
    const proc = world.start(disk);
    await proc.engine.pump(new Set(['none']));
    assert.ok(await proc.ports.tasks.claim('plan', 'boss'), 'it can be taken');
    proc.die();
  };
  await dieWith();
  await dieWith();
  const careful = world.start(disk, { agents: ['boss'] });
  await untilQuiet(careful);
  assert.deepEqual(disk.list(`${ROOT}/tasks/waiting`), ['plan.json']);
  await careful.store.close();
  await dieWith();
  const last = world.start(disk);
  await untilQuiet(last);
  const { task } = (await last.ports.tasks.read('plan'))!;
  assert.deepEqual([task.error?.message, task.result], [undefined, 'Yes then.']);
});

test('a stage that a scan missed is not created twice', async () => {
  const { disk, world } = office();
  const first = world.start(disk);
  await first.engine.pass('all', () => undefined);
  await Promise.all([...first.engine.flights.values()].map(({ done }) => done));
  const pending = `${ROOT}/tasks/pending`;
  const before = disk.list(pending);
  assert.deepEqual(before, []);
  await first.ports.flush();
  const [part] = disk.list(pending);
  const advisor = world.start(disk, { agents: ['legal'] });
  await advisor.ports.tasks.scan(true);
  let isLate = true;
  const late: Disk = {
    ...disk,
    list(folder) {
      if (folder !== pending || !isLate) return disk.list(folder);
      isLate = false;
      return before;
    },
  };
  const second = world.start(late);
  await second.ports.tasks.scan(true);
  assert.equal(second.ports.tasks.isOpen('plan'), true);
  assert.ok(await advisor.ports.tasks.claim(part!.slice(0, -'.json'.length), 'legal'));
  await second.engine.pass('none', () => undefined);
  while (second.engine.flights.size > 0) {
    await Promise.all([...second.engine.flights.values()].map(({ done }) => done));
    await second.engine.pass('none', () => undefined);
  }
  assert.deepEqual(
    world.calls.map(({ agent: name }) => name),
    [],
  );
});

test('a parked pattern task waits for its stages, and not for children that people add', async () => {
  const { disk, world } = office();
  const proc = world.start(disk);
  await proc.engine.pump();
  disk.save(`${ROOT}/tasks/pending/look.json`, JSON.stringify({ description: 'Look', to: 'human', parent: 'plan' }));
  await untilQuiet(proc);
  assert.deepEqual(
    world.calls.map(({ agent: name }) => name),
    ['legal', 'boss'],
  );
});

test('a stage that a person is editing is left alone until it can be read', async () => {
  const { disk, world } = office();
  const proc = world.start(disk);
  await proc.engine.pump();
  const file = `${ROOT}/tasks/pending/${disk.list(`${ROOT}/tasks/pending`)[0]!}`;
  const text = disk.tree().get(file)!;
  disk.save(file, text.slice(0, 40));
  for (let i = 0; i < 10; i++) {
    await proc.engine.pass(i === 0 ? 'all' : 'none', () => undefined);
    await Promise.all([...proc.engine.flights.values()].map(({ done }) => done));
  }
  assert.equal(world.calls.length, 0);
  disk.save(file, text.replace(/"description": "/, '"description": "In Norway: '));
  await untilQuiet(proc);
  assert.match(JSON.stringify(world.calls[0]!.messages), /In Norway/);
  assert.equal((await proc.ports.tasks.read('plan'))!.task.result, 'Yes then.');
});

/** Fast passes in a row, without waiting for the disk. */
async function passes({ engine }: Proc): Promise<void> {
  for (let look: 'all' | 'none' = 'all'; ; look = 'none') {
    const { moved } = await engine.pass(look, () => undefined);
    if (!moved && engine.flights.size === 0) return;
    await Promise.all([...engine.flights.values()].map(({ done }) => done));
  }
}

/** Stops all work after the first journaled message. */
function mortal(disk: Disk, said: string): Disk {
  let isDead = false;
  const own: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(disk)) {
    if (typeof call !== 'function') continue;
    own[name] = (...given: unknown[]): unknown => {
      if (isDead) throw new Error('the process is gone');
      const result = (call as (...given: unknown[]) => unknown).apply(own, given);
      if (name === 'writeOwn' && String(given[2]).includes(said)) isDead = true;
      return result;
    };
  }
  return own as unknown as Disk;
}
