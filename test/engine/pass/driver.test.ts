/** One loop of passes serves every caller in a process, and only looks where something may be. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { removeFolder, tempFolder } from '../../kit/temp/folder.js';
import { scripted } from '../../../src/adapters/models/scripted/index.js';
import { openWorkspace, type Workspace } from '../../../src/app/index.js';
import { INTERVALS } from '../../../src/domain/intervals.js';
import type { Model } from '../../../src/ports/model.js';
import { cluster, ROOT } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { until } from '../../kit/until.js';

interface Scene {
  root: string;
  workspace: Workspace;
  /** Scans of the task folders so far, and how many of them compared every file. */
  scans: { all: number; full: number };
  /** Lets the answers of the agent `slow` through. */
  release(): void;
  /** Calls of `slow` that wait. */
  held(): number;
}

async function scene(t: TestContext, config = ''): Promise<Scene> {
  const root = tempFolder('driver');
  for (const [file, text] of Object.entries({
    'guild.yaml': `model: s/m\nproviders: {s: {kind: scripted}}\ngit: false\n${config}`,
    'agents/quick.md': '---\ndescription: Answers\n---\nAnswer.\n',
    'agents/slow.md': '---\ndescription: Answers late\n---\nAnswer.\n',
  })) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }
  let release = (): void => undefined;
  let held = 0;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const answers = scripted('- {agent: "*", say: Done.}');
  const model: Model = {
    async call(request) {
      if (request.agent === 'slow') {
        held++;
        await gate;
      }
      return answers.call(request);
    },
  };
  const workspace = await openWorkspace(root, { history: false, model });
  t.after(async () => {
    await workspace.close();
    await removeFolder(root);
  });
  const scans = { all: 0, full: 0 };
  const { tasks } = workspace.store;
  const { scan } = tasks;
  tasks.scan = (full) => {
    scans.all++;
    if (full === true) scans.full++;
    return scan(full);
  };
  return { root, workspace, scans, release, held: () => held };
}

/** Scans that are due at intervals, even while another process works. */
function regular(fromMs: number): number {
  return 1 + Math.ceil((performance.now() - fromMs) / INTERVALS.folderCheckMs);
}

test('runs at once share one driver: sixty of them cost the scans of one', async (t) => {
  const { workspace, scans } = await scene(t);
  const from = performance.now();
  const ended = await Promise.all(Array.from({ length: 60 }, () => workspace.run('quick', 'Go')));
  assert.deepEqual(new Set(ended.map(({ state }) => state)), new Set(['completed']));
  assert.equal(scans.full, 1, 'only the first pass of the process compares every file');
  assert.ok(scans.all <= 1 + regular(from), `${scans.all} scans`);
});

test('a task that this process has just made causes no scan', async (t) => {
  const { workspace, scans } = await scene(t);
  await workspace.run('quick', 'Go');
  Object.assign(scans, { all: 0, full: 0 });
  const from = performance.now();
  for (let i = 0; i < 20; i++) assert.equal((await workspace.run('quick', 'Go')).state, 'completed');
  const { id } = await workspace.add({ description: 'Go', to: 'quick' });
  assert.equal((await workspace.finish(id)).state, 'completed');
  assert.equal(scans.full, 0);
  assert.ok(scans.all <= regular(from), `${scans.all} scans in ${performance.now() - from} ms`);
});

test('a run ends as soon as its own task has ended, while others are still working', async (t) => {
  const { workspace, release, held } = await scene(t);
  const slow = workspace.run('slow', 'Go');
  await until(() => held() === 1);
  assert.equal((await workspace.run('quick', 'Go')).state, 'completed');
  release();
  assert.equal((await slow).state, 'completed');
});

test('a task that waits for a person is returned while others are still working', async (t) => {
  const { workspace, release, held } = await scene(t);
  const slow = workspace.run('slow', 'Go');
  await until(() => held() === 1);
  const { id } = await workspace.add({ description: 'Decide', to: 'human' });
  assert.equal((await workspace.finish(id)).state, 'pending');
  release();
  await slow;
});

test('runs wait for capacity and keep the limit', async (t) => {
  const { workspace, release, held } = await scene(t, 'limits: {parallel: 3}\n');
  const runs = Array.from({ length: 9 }, () => workspace.run('slow', 'Go'));
  await until(() => held() === 3);
  assert.equal(workspace.engine.flights.size, 3);
  release();
  assert.deepEqual(new Set((await Promise.all(runs)).map(({ state }) => state)), new Set(['completed']));
});

test('an agent edited between two runs is read again', async (t) => {
  const { workspace, root } = await scene(t);
  await workspace.run('quick', 'Go');
  fs.writeFileSync(path.join(root, 'agents/quick.md'), '---\ndescription: Edited\n---\nAnswer.\n');
  await workspace.run('quick', 'Go');
  assert.equal(workspace.agents().get('quick')?.description, 'Edited');
});

test('the end of watch releases its tasks but not those that a run still waits for', async (t) => {
  const { workspace, release, held } = await scene(t);
  const stop = new AbortController();
  const watching = workspace.watch(stop.signal);
  const dropped = await workspace.add({ description: 'Dropped', to: 'slow' });
  const run = workspace.run('slow', 'Go');
  await until(() => held() === 2);
  stop.abort();
  // The released task may have to wait for its hanging call; the model lets all calls end.
  await until(() => workspace.engine.flights.get(dropped.id)?.stop.signal.aborted !== false);
  release();
  await watching;
  assert.equal((await run).state, 'completed');
  assert.equal(workspace.engine.flights.size, 0);
});

test('an aborted finish starts nothing more and returns the task as it is', async (t) => {
  const { workspace } = await scene(t);
  const { id } = await workspace.add({ description: 'Later', to: 'quick' });
  const { state } = await workspace.finish(id, AbortSignal.abort());
  assert.equal(state, 'pending');
});

test('a disk failure ends every goal of the process', async (t) => {
  const { workspace, release, held } = await scene(t);
  const runs = [workspace.run('slow', 'Go'), workspace.run('slow', 'Go')];
  await until(() => held() === 2);
  workspace.store.tasks.scan = () => Promise.reject(new Error('EIO'));
  for (const run of runs) await assert.rejects(run, /EIO/);
  release();
});

test('a pass that is running when the engine stops starts nothing more', async () => {
  const disk = simDisk();
  disk.save(`${ROOT}/agents/quick.md`, '---\ndescription: Answers\n---\nAnswer.\n');
  for (let i = 0; i < 5; i++)
    disk.save(`${ROOT}/tasks/pending/t${i}.json`, JSON.stringify({ description: 'Go', to: 'quick' }));
  const house = cluster('- {agent: quick, say: Done.}');
  const proc = house.start(disk);
  const { tasks } = proc.ports;
  const { scan } = tasks;
  tasks.scan = async (full) => {
    const seen = await scan(full);
    await proc.engine.stop();
    return seen;
  };
  const { advanced } = await proc.engine.pass('all', () => undefined);
  assert.equal(advanced, 0);
  assert.equal(house.calls.length, 0);
  tasks.scan = scan;
  await proc.engine.pump();
  assert.equal(house.calls.length, 5, 'a later pass works again');
});

test('two processes do not race for the same tasks of a long queue', async () => {
  const disk = simDisk();
  disk.save(`${ROOT}/agents/quick.md`, '---\ndescription: Answers\n---\nAnswer.\n');
  for (let i = 100; i < 200; i++)
    disk.save(`${ROOT}/tasks/pending/t${i}.json`, JSON.stringify({ description: 'Go', to: 'quick' }));
  const house = cluster('- {agent: quick, say: Done.}');
  const procs = [house.start(disk), house.start(disk)];
  for (const { ports } of procs) {
    ports.config.limits.parallel = 8;
    await ports.presence.join();
    await ports.tasks.scan(true);
  }
  const lost: string[] = [];
  for (const { ports } of procs) {
    const { claim } = ports.tasks;
    ports.tasks.claim = async (id, agent) => {
      const claimed = await claim(id, agent);
      if (claimed === undefined) lost.push(id);
      return claimed;
    };
  }
  await Promise.all(procs.map(({ engine }) => engine.pass('none', () => undefined)));
  await Promise.all(procs.flatMap(({ engine }) => [...engine.flights.values()].map(({ done }) => done)));
  assert.deepEqual(lost, []);
  assert.equal(house.calls.length, 16);
});

test('a process also works on tasks that another one leaves', async () => {
  const disk = simDisk();
  disk.save(`${ROOT}/agents/quick.md`, '---\ndescription: Answers\n---\nAnswer.\n');
  for (let i = 100; i < 200; i++)
    disk.save(`${ROOT}/tasks/pending/t${i}.json`, JSON.stringify({ description: 'Go', to: 'quick' }));
  const house = cluster('- {agent: quick, say: Done.}');
  const [busy, idle] = [house.start(disk), house.start(disk)];
  await idle.ports.presence.join();
  busy.ports.config.limits.parallel = 8;
  for (let pass = 1; pass <= 100 / 8 + 1; pass++) await busy.engine.pump();
  assert.equal(house.calls.length, 100);
  // The front of the queue has 64 tasks, and the last of them may be those of the idle process.
  for (const [at, { task }] of house.calls.entries())
    assert.ok(Number(task.slice(1)) - 100 <= at + 64, `${task} was number ${at}`);
});
