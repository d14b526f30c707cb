/** Recovery from dead processes. A task that kills its process is not retried forever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, untilQuiet, type Cluster } from '../../kit/cluster.js';
import { Died } from '../../kit/crash-disk.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

function setUp(script: string): { disk: SimDisk; house: Cluster } {
  const disk = simDisk();
  const agents = { ana: '---\ndescription: A\n---\nDo it.\n' };
  writeStory(disk, {
    name: '',
    agents,
    tasks: { t: { description: 'Poison', to: 'ana' } },
    script,
    results: {},
    calls: 0,
  });
  return { disk, house: cluster(script) };
}

/** Starts a process that claims the task and dies. `recover`: it first recovers its predecessor. */
async function dieWith(house: Cluster, disk: SimDisk, recover: boolean): Promise<void> {
  const proc = house.start(disk);
  await proc.ports.tasks.scan(true);
  // A pass for a root that does not exist recovers tasks and starts nothing.
  if (recover) await proc.engine.pump(new Set(['none']));
  const claim = await proc.ports.tasks.claim('t', 'ana');
  assert.ok(claim, 'it can be claimed');
  proc.die();
}

test('three crashes in a row fail a task with their history, and a retry continues it', async () => {
  const { disk, house } = setUp('- {agent: ana, say: survived}');
  for (let i = 0; i < 3; i++) await dieWith(house, disk, i > 0);
  const proc = house.start(disk);
  await untilQuiet(proc);
  const { state, task } = (await proc.ports.tasks.read('t'))!;
  assert.deepEqual([state, task.error?.code, task.attempts], ['failed', 'taker_lost', 3]);
  assert.match(task.error!.message, /died 3 times in a row: \S+ ana, after 0 messages; .*; /);
  assert.equal(task.lost!.length, 3);
  assert.equal(house.calls.length, 0);
  await proc.ports.intents.submit({ kind: 'retry', id: 'r', task: 't', by: 'human', at: '2026-01-01T00:00:00.000Z' });
  await untilQuiet(proc);
  const after = (await proc.ports.tasks.read('t'))!;
  assert.deepEqual([after.state, after.task.result, after.task.lost], ['completed', 'survived', undefined]);
});

test('a task released by a live process starts a new count of crashes', async () => {
  const { disk, house } = setUp('- {agent: ana, say: survived}');
  await dieWith(house, disk, false);
  await dieWith(house, disk, true);
  const careful = house.start(disk);
  await careful.engine.pump(new Set(['none']));
  const claim = (await careful.ports.tasks.claim('t', 'ana'))!;
  assert.equal(claim.task.attempts, 2);
  const { lost: _, ...rest } = claim.task;
  await careful.ports.tasks.release(claim, { ...rest, attempts: 0 });
  await dieWith(house, disk, false);
  const last = house.start(disk);
  await untilQuiet(last);
  assert.equal((await last.ports.tasks.read('t'))!.task.result, 'survived');
});

const NAMES = ['a', 'b', 'c', 'd'];

function crowd(): { disk: SimDisk; house: Cluster } {
  const script = '- {agent: ana, say: survived}';
  const disk = simDisk();
  const agents = { ana: '---\ndescription: A\n---\nDo it.\n' };
  const tasks = Object.fromEntries(NAMES.map((id) => [id, { description: id, to: 'ana' }]));
  writeStory(disk, { name: '', agents, tasks, script, results: {}, calls: 0 });
  return { disk, house: cluster(script) };
}

/**
 * A process that works until the task `killer` runs, which kills it. Returns the tasks that were
 * running then, or nothing if the process survived.
 */
async function workUntilKilled(house: Cluster, disk: SimDisk, killer: string): Promise<string[] | undefined> {
  let isDead = false;
  const mortal = new Proxy(disk, {
    get(target, name: keyof SimDisk) {
      if (isDead) throw new Died('the process is gone');
      return target[name];
    },
  });
  const proc = house.start(mortal);
  const { model } = proc.ports;
  const asked: string[] = [];
  let kill = (): void => undefined;
  const killed = new Promise<void>((resolve) => (kill = resolve));
  proc.ports.model = {
    async call(request) {
      asked.push(request.task);
      // All other tasks are in flight when the process dies.
      await new Promise((resolve) => setImmediate(resolve));
      if (request.task === killer) kill();
      if (!asked.includes(killer)) return model.call(request);
      await killed;
      isDead = true;
      throw new Died('the process is gone');
    },
  };
  const end = await untilQuiet(proc).catch((thrown: unknown) => thrown);
  proc.die();
  return end instanceof Died ? asked : undefined;
}

test('R21: a task that kills its process fails, and tasks that only ran at the same time do not', async () => {
  const { disk, house } = crowd();
  let deaths = 0;
  while ((await workUntilKilled(house, disk, 'b')) !== undefined) assert.ok(++deaths <= 5, `${deaths} deaths`);
  assert.equal(deaths, 5, 'two beside others, then three alone');
  const last = house.start(disk);
  await untilQuiet(last);
  for (const id of NAMES) {
    const { state, task } = (await last.ports.tasks.read(id))!;
    if (id !== 'b') assert.deepEqual([state, task.result], ['completed', 'survived'], id);
    else {
      assert.deepEqual([state, task.error?.code], ['failed', 'taker_lost']);
      assert.match(task.error!.message, /beside 3 other tasks/);
    }
  }
});

test('R21: tasks that are lost together again and again, to a person’s kill -9, do not fail', async () => {
  const { disk, house } = crowd();
  for (let times = 0; times < 8; times++) {
    const proc = house.start(disk);
    await proc.ports.tasks.scan(true);
    await proc.engine.pump(new Set(['none']));
    for (const id of NAMES) assert.ok(await proc.ports.tasks.claim(id, 'ana'), `${id} after ${times} deaths`);
    proc.die();
  }
  const last = house.start(disk);
  await untilQuiet(last);
  for (const id of NAMES) assert.equal((await last.ports.tasks.read(id))!.state, 'completed');
});
