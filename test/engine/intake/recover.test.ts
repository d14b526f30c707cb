/** Recovery from dead processes. A task that kills its process is not retried forever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, untilQuiet, type Cluster } from '../../kit/cluster.js';
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
