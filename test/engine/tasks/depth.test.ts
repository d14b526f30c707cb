/** Depth: chains that agent files declare are not limited; requests that agents make are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, untilQuiet, type Proc, type Cluster } from '../../kit/cluster.js';
import { outcome } from '../../kit/outcome.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: x\n${front}\n---\nDo what you are asked.\n`;
const stage = (i: number): string => `stage-with-a-long-name-${i}`;
const STAGES = 12;

/** Each stage answers with its number. The ids of such a long chain are shortened. */
function chain(more: string): Story {
  const stages = Array.from({ length: STAGES }, (_, i) => i);
  return {
    name: 'a chain of twelve',
    agents: Object.fromEntries(
      stages.map((i) => [stage(i), agent(i + 1 < STAGES ? `handoff: ${stage(i + 1)}` : 'handoff: false')]),
    ),
    tasks: { go: { description: 'Count', to: stage(0) } },
    script: `${more}\n${stages.map((i) => `- {agent: ${stage(i)}, say: "${i}"}`).join('\n')}\n`,
    results: { go: String(STAGES - 1) },
    calls: STAGES,
  };
}

function start(story: Story): { disk: SimDisk; house: Cluster; proc: Proc } {
  const disk = simDisk();
  writeStory(disk, story);
  const house = cluster(story.script);
  return { disk, house, proc: house.start(disk) };
}

test('a chain of twelve stages runs with default limits, and its costs add up', async () => {
  const story = chain('');
  const { disk, house, proc } = start(story);
  await untilQuiet(proc, 200);
  assert.deepEqual(outcome(disk, story), []);
  assert.equal(house.calls.length, STAGES);
});

test('a retry from the top or the middle repeats a failed stage deep in the chain and continues', async () => {
  for (const from of ['go', 'middle']) {
    const story = chain(`- {agent: ${stage(9)}, times: 1, fail: auth, message: no key}`);
    const { disk, house, proc } = start(story);
    await untilQuiet(proc, 200);
    const failed = await proc.ports.tasks.ended({ state: 'failed' });
    assert.equal(failed.length, 11, 'the stage, its work and its ancestors');
    const id =
      from === 'go' ? 'go' : failed.find(({ task }) => task.to === stage(7) && task.role === 'handoff')!.task.id;
    assert.equal(id.length > 90, from !== 'go', 'its id is shortened, so its prefix does not find its children');
    await proc.ports.intents.submit({
      kind: 'retry',
      id: 'i1',
      task: id,
      by: 'human',
      at: '2026-01-01T00:00:00.000Z',
    });
    await untilQuiet(proc, 200);
    const again = (await proc.ports.tasks.read(id))!;
    assert.deepEqual([again.state, again.task.result], ['completed', String(STAGES - 1)], from);
    assert.equal(house.calls.length, STAGES + 1, 'nothing that succeeded is paid again');
    if (from === 'go') assert.deepEqual(outcome(disk, story), []);
  }
});

test('a chain cancelled in the middle ends as a whole', async () => {
  const { disk, house, proc } = start(chain(''));
  for (let pass = 0; pass < 50 && house.calls.length < 7; pass++) await proc.engine.pump();
  assert.ok(house.calls.length >= 7);
  await proc.ports.intents.submit({
    kind: 'cancel',
    id: 'i1',
    task: 'go',
    by: 'human',
    at: '2026-01-01T00:00:00.000Z',
  });
  await untilQuiet(proc, 200);
  assert.equal([...proc.ports.tasks.open()].length, 0);
  assert.equal((await proc.ports.tasks.read('go'))!.task.error?.code, 'cancelled');
  assert.ok(disk.tree().size > 0 && house.calls.length < STAGES);
});

test('agents that delegate in a cycle are stopped at the depth limit, and each asker continues', async () => {
  const tools = 'tools: [delegate_to_agent]';
  const { house, proc } = start({
    name: 'ping and pong',
    agents: {
      ping: agent(`${tools}\nagents: [pong]\nhandoff: scribe`),
      pong: agent(`${tools}\nagents: [ping]`),
      scribe: agent(''),
    },
    tasks: { go: { description: 'Play', to: 'ping' } },
    script: `
- {agent: [ping, pong], turn: 1, when: depth 6 is over, say: enough}
- {agent: ping, turn: 1, call: [{delegate_to_agent: {agent: pong, task: play}}]}
- {agent: pong, turn: 1, call: [{delegate_to_agent: {agent: ping, task: play}}]}
- {agent: [ping, pong], turn: 2, say: enough}
- {agent: scribe, say: The end.}
`,
    results: {},
    calls: 0,
  });
  await untilQuiet(proc, 200);
  assert.equal((await proc.ports.tasks.read('go'))!.task.result, 'The end.');
  const calls = (await proc.ports.tasks.ended()).filter(({ task }) => task.role === 'call');
  assert.deepEqual(calls.map(({ task }) => task.depth).sort(), [1, 2, 3, 4, 5, 6]);
  assert.equal(calls.find(({ task }) => task.depth === 6)!.task.error?.code, 'over_limit');
  assert.ok(house.calls.length < 30);
});

test('agents whose handoffs form a cycle get no work, and the others continue', async () => {
  const { house, proc } = start({
    name: 'round and round',
    agents: {
      a: agent('handoff: b'),
      b: agent('advisors: [c]'),
      c: agent('handoff: a'),
      d: agent('handoff: a'),
      e: agent(''),
    },
    tasks: {
      round: { description: 'x', to: 'a' },
      into: { description: 'x', to: 'd' },
      fine: { description: 'x', to: 'e' },
    },
    script: '- {agent: "*", say: done}',
    results: {},
    calls: 0,
  });
  await untilQuiet(proc, 200);
  const end = async (id: string): Promise<string | undefined> => {
    const { task } = (await proc.ports.tasks.read(id))!;
    return task.result ?? `${task.error!.code}: ${task.error!.message}`;
  };
  assert.equal(await end('fine'), 'done');
  assert.match((await end('round'))!, /^cycle: these agents form a cycle: a → b → c → a$/);
  assert.match((await end('into'))!, /^cycle: handoff \(a\) failed: these agents form a cycle/);
  assert.equal(house.calls.length, 2, 'no agent of the cycle is asked');
});

test('agents with contradictory files or unknown names get no work, and the others continue', async () => {
  const { house, proc } = start({
    name: 'unfit',
    agents: {
      router: agent('router: {destinations: [fine]}\ntools: [read_file]'),
      lead: agent('team: {members: [fine]}\nhandoff: fine'),
      alone: agent('team: {members: [fine, nobody]}'),
      advised: agent('advisors: [nobody]'),
      into: agent('handoff: alone'),
      torn: agent('advisors: {agent: 3}'),
      fine: agent(''),
    },
    tasks: Object.fromEntries(
      ['router', 'lead', 'alone', 'advised', 'into', 'torn', 'fine'].map((to) => [to, { description: 'x', to }]),
    ),
    script: '- {agent: "*", say: done}',
    results: {},
    calls: 0,
  });
  await untilQuiet(proc, 200);
  const ends = new Map((await proc.ports.tasks.ended()).map(({ task }) => [task.id, task]));
  assert.equal(ends.get('fine')!.result, 'done');
  for (const [id, what, line] of [
    ['router', /^router is a router and has tools/, 4],
    ['lead', /^lead leads a team and hands off/, 4],
    ['alone', /^alone names "nobody" as a member of its team, but there is no such agent$/, 3],
    ['advised', /^advised names "nobody" as an advisor/, 3],
    ['torn', /^the file of torn cannot be read: "advisors" must be a list of agents$/, 3],
  ] as const) {
    const { error } = ends.get(id)!;
    assert.match(error!.message, what);
    assert.deepEqual([error!.where?.file, error!.where?.line], [`agents/${id}.md`, line]);
    assert.match(error!.hint!, /then retry the task$/);
  }
  assert.match(ends.get('into')!.error!.message, /^handoff \(alone\) failed: alone names "nobody"/);
  assert.equal(house.calls.length, 2, 'only agents with valid files');
});
