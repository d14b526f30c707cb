/**
 * `plan_approval: true`: no tools before an approved plan, and failure after three refused ones.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { cluster, ROOT, play, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const BALLOT = path.join(ROOT, 'tasks/approvals.task.md');
const AGENT = '---\ndescription: Writes\ntools: [write_file]\nplan_approval: true\n---\nWrite.\n';

test('the plan turn forbids calls, and they are allowed once the plan is approved', async () => {
  const { calls, proc } = await played({ answers: ['[x]'] });
  assert.deepEqual(
    calls.map((call) => call.toolChoice),
    ['none', undefined, undefined],
  );
  const heads = new Set(calls.map((call) => JSON.stringify([call.system, call.tools])));
  assert.equal(heads.size, 1, 'what is sent before the messages stays the same');
  assert.equal((await proc.ports.tasks.read('page'))?.task.result, 'done');
});

test('three refused plans fail the task with the last reason', async () => {
  const { calls, proc } = await played({ answers: ['[-]', '[-]', '[-]'] });
  assert.equal(calls.length, 3);
  assert.ok(calls.every((call) => call.toolChoice === 'none'));
  const { task, state } = (await proc.ports.tasks.read('page'))!;
  assert.equal(state, 'failed');
  assert.equal(task.error?.code, 'not_allowed');
  assert.match(task.error.message, /showed 3 plans and none was approved.*the human refused this action/);
});

test('an empty plan is refused without asking the human', async () => {
  const { calls, proc } = await played({ plan: '" "', answers: [] });
  assert.equal(calls.length, 3);
  assert.match((await proc.ports.tasks.read('page'))!.task.error!.message, /Your plan was empty/);
  assert.equal(proc.ports.tasks.openCount(), 0);
});

test('calls before the plan is approved are refused and have no effect', async () => {
  const call = ', call: [{write_file: {path: early.txt, content: x}}]';
  const { disk, proc } = await played({ call, answers: ['[x]'] });
  assert.equal(disk.read(path.join(ROOT, 'early.txt')).kind, 'missing');
  assert.equal((await proc.ports.tasks.read('page'))?.task.result, 'done');
});

test('a team member plans once for all its rounds', async () => {
  const agents = {
    chair: '---\ndescription: Chairs\nteam: {members: [ana], terminationMode: maxRounds, maxRounds: 3}\n---\nChair.\n',
    ana: AGENT,
  };
  const script = `
- {agent: ana, when: show your plan, say: I will speak.}
- {agent: ana, say: I speak.}
- {agent: chair, say: done}
`;
  const { calls, proc } = await played({ agents, to: 'chair', script, answers: ['[x]'] });
  assert.equal((await proc.ports.tasks.read('page'))?.task.result, 'done');
  assert.equal(calls.filter((call) => call.agent === 'ana').length, 4);
});

test('a plan that was approved under an earlier version is not asked for again', async () => {
  const session = `session_id: ana-page
agent_id: ana
created: '2026-11-17T00:55:30.930Z'
status: active   
task: page
messages:
  - role: user
    from: human
    content: 'x'
    timestamp: '2026-11-17T00:55:30.930Z'
  - role: user
    from: 'guildhall:plan'
    content: 'Before you act, show your plan: what you will do, step by step, with whom, and what could go wrong. A human reads it. Answer with the plan alone; no tool can be called before it is approved.'
    timestamp: '2026-11-17T00:55:30.932Z'
  - role: assistant
    content: '1. write a.txt'
    usage: {model: "demo/story", input_tokens: 89, output_tokens: 4, ms: 0}
    timestamp: '2026-11-17T00:55:30.999Z'
  - role: user
    from: 'guildhall:go'
    content: 'The human approved your plan. Carry it out now.'
    timestamp: '2026-11-17T00:55:40.992Z'
`;
  const { calls, proc } = await played({ answers: [], files: { 'sessions/ana-page.session.yaml': session } });
  assert.deepEqual(
    calls.map((call) => call.tools.map((tool) => tool.name)),
    [['write_file'], ['write_file']],
  );
  assert.equal((await proc.ports.tasks.read('page'))?.task.result, 'done');
});

interface Options {
  plan?: string;
  call?: string;
  answers: string[];
  agents?: Record<string, string>;
  to?: string;
  script?: string;
  files?: Record<string, string>;
}

async function played(
  options: Options,
): Promise<{ calls: ReturnType<typeof cluster>['calls']; proc: Proc; disk: SimDisk }> {
  const { plan = 'Step by step.', call = '', agents = { ana: AGENT }, to = 'ana', answers } = options;
  const script =
    options.script ??
    `
- {agent: ana, when: [show your plan, Show a better plan], say: ${plan}${call}}
- {agent: ana, when: The human approved, call: [{write_file: {path: page.txt, content: x}}]}
- {agent: ana, say: done}
`;
  const left = [...answers];
  const human = (on: SimDisk): boolean => {
    const read = on.read(BALLOT);
    const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
    const box = text.includes('- [_]') ? left.shift() : undefined;
    if (box !== undefined) on.save(BALLOT, text.replace('- [_]', `- ${box}`));
    return box !== undefined;
  };
  const story: Story = {
    name: 'x',
    agents,
    tasks: { page: { description: 'x', to } },
    files: options.files ?? {},
    script,
    results: {},
    calls: 0,
    human,
  };
  const disk = simDisk();
  writeStory(disk, story);
  const world = cluster(script);
  const proc = world.start(disk);
  await play(proc, story, disk);
  assert.deepEqual(left, [], 'every answer was asked for');
  return { calls: world.calls, proc, disk };
}
