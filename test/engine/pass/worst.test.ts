/**
 * Models that do their worst: always break down, always bid the most, always agree, send work back
 * and forth. Every run ends within its budget, says what stopped it, and leaves no task open.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Config } from '../../../src/domain/config/config.js';
import type { Task } from '../../../src/domain/task/task.js';
import { cluster, ROOT, untilQuiet, type Cluster } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (more: string): string => `---\ndescription: Does its worst\n${more}\n---\nDo your worst.\n`;

interface Played {
  root: Task & { state: string };
  tasks: Task[];
  house: Cluster;
  disk: SimDisk;
}

async function worst(
  agents: Record<string, string>,
  script: string,
  budget: object,
  config: Partial<Config> = {},
): Promise<Played> {
  const task = { description: 'Build it all', budget };
  const story: Story = { name: 'worst', agents, tasks: { root: task }, script, results: {}, calls: 0 };
  const disk = simDisk();
  writeStory(disk, story);
  const house = cluster(script);
  const proc = house.start(disk, { config });
  await untilQuiet(proc, 5000);
  const tasks: (Task & { state: string })[] = [];
  for (const state of ['pending', 'active', 'waiting', 'completed', 'failed'])
    for (const name of disk.list(path.join(ROOT, 'tasks', state))) {
      const read = disk.read(path.join(ROOT, 'tasks', state, name));
      if (read.kind === 'file') tasks.push({ ...(JSON.parse(read.bytes.toString('utf8')) as Task), state });
    }
  assert.deepEqual(
    tasks.filter(({ state }) => state !== 'completed' && state !== 'failed').map(({ id }) => id),
    [],
    'nothing is left open',
  );
  return { root: tasks.find(({ id }) => id === 'root')!, tasks, house, disk };
}

const PARTS = (text: string): string =>
  `[${['a', 'b', 'c'].map((key) => `{key: ${key}, description: "${text} ${key} {{n}}"}`).join(', ')}]`;

test('agents that always break down and bid ten end at the depth limit, within the budget', async () => {
  const agents = {
    ana: agent('tools: [break_down]\ncapabilities: [x]'),
    ben: agent('tools: [break_down]\ncapabilities: [y]'),
  };
  const bid = 'call: [{place_bid: {proceed: true, able: true, fitness: 10, reason: all mine}}]';
  const script = `
- {agent: ana, task: "*.bid-*", ${bid}}
- {agent: ben, task: "*.bid-*", ${bid}}
- {agent: ana, call: [{break_down: {parts: ${PARTS('More work on piece')}}}]}
- {agent: ben, call: [{break_down: {parts: ${PARTS('Other labour for chunk')}}}]}
`;
  const { root, tasks, house } = await worst(agents, script, { turns: 60, children: 60 });
  assert.ok(
    tasks.every((task) => task.depth <= 5),
    'never deeper than five',
  );
  const bids = tasks.filter((task) => task.role === 'bid').length;
  assert.equal(root.usage!.turns, house.calls.length, 'every call is accounted for');
  assert.ok(root.usage!.turns - bids <= 61, `${root.usage!.turns} turns with ${bids} bids`);
  assert.match(root.error?.message ?? root.result ?? '', /\w/, 'it says something');
});

test('a breakdown into itself is refused, and an agent that repeats it is stopped', async () => {
  const agents = { ana: agent('tools: [break_down]') };
  const script = `- {agent: ana, call: [{break_down: {parts: [{key: all, description: Build it all}]}}]}\n`;
  const { root, tasks, house } = await worst(agents, script, { turns: 20 });
  assert.equal(tasks.length, 1, 'no part was created');
  assert.equal(root.state, 'failed');
  assert.match(root.error!.message, /same|again|loop|budget of turns/);
  assert.ok(house.calls.length <= 21);
});

test('two agents that delegate the same work to each other stop at the depth limit', async () => {
  const agents = {
    ana: agent('tools: [delegate_to_agent]\nagents: [ben]'),
    ben: agent('tools: [delegate_to_agent]\nagents: [ana]'),
  };
  const script = `
- {agent: ana, call: [{delegate_to_agent: {agent: ben, task: You do it}}]}
- {agent: ben, call: [{delegate_to_agent: {agent: ana, task: No you do it}}]}
`;
  const { root, tasks, house } = await worst(agents, script, { turns: 40 }, { defaultAgent: 'ana' });
  assert.ok(tasks.every((task) => task.depth <= 6));
  assert.ok(house.calls.length <= 41, `${house.calls.length} calls`);
  assert.equal(root.state, 'failed');
});

test('the tasks that one root may create are limited per minute', async () => {
  const agents = { ana: agent('tools: [create_task]'), ben: agent('capabilities: [y]') };
  const calls = Array.from({ length: 40 }, (_, i) => `{create_task: {agent: ben, description: Thing ${i}}}`).join(', ');
  const script = `
- {agent: ana, task: root, turn: 1, call: [${calls}]}
- {agent: ana, task: root, say: Enough.}
- {agent: ben, say: Done.}
`;
  const { root, tasks } = await worst(
    agents,
    script,
    {},
    { defaultAgent: 'ana', limits: limits({ tasksPerMinute: 10 }) },
  );
  assert.equal(root.result, 'Enough.');
  assert.equal(tasks.length, 11, 'ten were created and thirty refused');
});

test('the limit per minute counts tasks of other processes and of earlier ones', async () => {
  const calls = (n: number): string =>
    Array.from({ length: n }, (_, i) => `{create_task: {agent: cyd, description: Thing ${i}}}`).join(', ');
  const script = `
- {agent: ana, task: root, turn: 1, call: [${calls(6)}, {delegate_to_agent: {agent: ben, task: more}}]}
- {agent: ana, say: Enough.}
- {agent: ben, turn: 1, call: [${calls(6)}]}
- {agent: ben, say: Enough.}
`;
  const disk = simDisk();
  writeStory(disk, {
    name: '',
    agents: {
      ana: agent('tools: [create_task, delegate_to_agent]\nagents: [ben]'),
      ben: agent('tools: [create_task]'),
      cyd: agent('capabilities: [y]'),
    },
    tasks: { root: { description: 'Go', to: 'ana' } },
    script,
    results: {},
    calls: 0,
  });
  const house = cluster(script);
  const config = { defaultAgent: 'ana', limits: limits({ tasksPerMinute: 10 }) };
  const first = house.start(disk, { config, agents: ['ana'] });
  await untilQuiet(first);
  first.die();
  await untilQuiet(house.start(disk, { config, agents: ['ben'] }));
  const made = [...disk.tree().keys()].filter((file) => /tasks\/\w+\/root\.[^/]*\.json$/.test(file));
  assert.equal(made.length, 10, made.join('\n'));
});

function limits(more: Partial<Config['limits']>): Config['limits'] {
  return {
    parallel: 16,
    depth: 5,
    attempts: 3,
    turns: 50,
    maxTaskBytes: 1 << 20,
    maxResultBytes: 16 << 10,
    children: 100,
    tasksPerMinute: 300,
    calls: 128,
    argumentBytes: 1 << 18,
    requests: 30,
    ...more,
  };
}

test('bids that accept anything and checks that pass anything cost one call each', async () => {
  const agents = {
    ana: agent('evaluator: {}\nmetacognition: {}'),
    ben: agent('evaluator: {}\nmetacognition: {}'),
  };
  const script = `
- {agent: ana, task: "*.bid-*", say: "YES YES, I PROCEED"}
- {agent: ben, task: "*.bid-*", call: [{place_bid: {proceed: true, able: true, fitness: 10, reason: yes}}]}
- {agent: ben, task: "*.work", say: Yes.}
- {agent: ben, task: "*.check-*", call: [{give_verdict: {advances: true, reason: yes}}]}
`;
  const { root, house } = await worst(agents, script, { turns: 20 });
  assert.deepEqual([root.state, root.to, root.result], ['completed', 'ben', 'Yes.']);
  assert.equal(house.calls.length, 5, 'two tries without a valid bid, one bid, the work and its check');
});
