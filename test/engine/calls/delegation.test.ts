/** Options of a delegation: variables for the agent's prompt, and a timeout. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { removeFolder, tempFolder } from '../../kit/temp/folder.js';
import { scripted } from '../../../src/adapters/models/scripted/index.js';
import { openWorkspace } from '../../../src/app/index.js';
import type { Model } from '../../../src/ports/model.js';
import { cluster, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { PROGRAM_KEYS } from '../../../src/domain/task/task.js';
import { writeStory } from '../../kit/stories.js';
import { trust } from '../../kit/trust/state.js';

const AGENTS = {
  lead: '---\ndescription: Leads\ntools: [delegate_to_agent]\nagents: [hand]\n---\nLead.\n',
  hand: '---\ndescription: Helps\nvariables: {tone: plain}\n---\nBe {{tone}}. {{tool_descriptions}}\n',
};

test('variables are in the first message of the delegate, and a timeout becomes its budget', async () => {
  const { result, child } = await delegated('variables: {tone: kind}, timeout_seconds: 90');
  assert.match(result, /"agent_name":"hand".*"result":"kindly".*"success":true,"error":null/);
  assert.equal(child?.budget?.timeMs, 90_000);
});

test('without options the delegate is as its file says', async () => {
  const { result, child } = await delegated('context: nothing more');
  assert.match(result, /"result":"plainly"/);
  assert.equal(child?.budget?.timeMs, undefined);
});

test('a caller cannot set undeclared variables, such as taint', async () => {
  for (const name of ['taint', 'original_goal', 'speed']) {
    const { result, child } = await delegated(`variables: {${name}: x}`);
    assert.match(result, new RegExp(`bad_field: that agent has no variable ${name}; it has tone`));
    assert.equal(child, undefined);
  }
});

test("a caller cannot set the program's own keys, even if the agent declares them as variables", async () => {
  const own = PROGRAM_KEYS.map((key) => `${key}: x`).join(', ');
  const agents = { ...AGENTS, hand: AGENTS.hand.replace('tone: plain', `tone: plain, ${own}`) };
  for (const name of PROGRAM_KEYS) {
    const { result, child } = await delegated(`variables: {${name}: y}`, agents);
    assert.match(result, new RegExp(`that agent has no variable ${name};`));
    assert.equal(child, undefined);
  }
});

const LATE = {
  ...AGENTS,
  lead: AGENTS.lead.replace('[hand]', '[hand, slow]'),
  slow: '---\ndescription: Takes forever\n---\nBe slow.\n',
};

test('a child that exceeds its timeout is aborted, and its caller gets a failed AgentResponse', async (t) => {
  const script = `
- agent: lead
  turn: 1
  call: [{delegate_to_agent: {agent: slow, task: wait, timeout_seconds: 1}}, {delegate_to_agent: {agent: hand, task: quick}}]
- {agent: slow, wait: 10h, say: too late}
- {agent: hand, say: in time}
- {agent: lead, turn: 2, when: '/"agent_name":"slow".*"success":false/', say: Without the slow one.}
`;
  const workspace = await onDisk(t, LATE, script);
  const { task, state } = await workspace.run('lead', 'Ask both');
  assert.deepEqual([state, task.result], ['completed', 'Without the slow one.']);
  const [, slow, hand] = await workspace.tree(task.id);
  const late = [slow!, hand!].find(({ task: child }) => child.to === 'slow')!;
  assert.deepEqual([late.state, late.task.error?.code], ['failed', 'timed_out']);
  assert.match(late.task.error!.message, /no answer within the [\d.]+ s/);
});

test('a delegated chain has one timeout for all its stages', async (t) => {
  const agents = { ...LATE, slow: '---\ndescription: First of two\nhandoff: hand\n---\nBe quick.\n' };
  const script = `
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: slow, task: wait, timeout_seconds: 1}}]}
- {agent: slow, say: quick}
- {agent: hand, wait: 10h, say: too late}
- {agent: lead, turn: 2, when: '/"agent_name":"slow".*"success":false/', say: Without them.}
`;
  const workspace = await onDisk(t, agents, script);
  assert.equal((await workspace.run('lead', 'Ask')).task.result, 'Without them.');
});

test('delegations of one turn run in parallel', async (t) => {
  const asked: string[] = [];
  let allAsked: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (allAsked = resolve));
  const script = `
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: hand, task: a}}, {delegate_to_agent: {agent: hand, task: b}}, {delegate_to_agent: {agent: slow, task: c}}]}
- {agent: lead, turn: 2, say: All three.}
- {agent: [hand, slow], say: done}
`;
  const lines = scripted(script);
  const model: Model = {
    async call(request) {
      if (request.agent === 'lead') return lines.call(request);
      if (asked.push(request.task) === 3) allAsked();
      await all;
      return lines.call(request);
    },
  };
  const workspace = await onDisk(t, LATE, script, model);
  assert.equal((await workspace.run('lead', 'Ask all')).task.result, 'All three.');
  assert.equal(asked.length, 3);
});

/** A real folder and a real clock. */
async function onDisk(t: TestContext, agents: Record<string, string>, script: string, model?: Model) {
  const root = tempFolder('delegation');
  fs.mkdirSync(path.join(root, 'agents'));
  fs.writeFileSync(
    path.join(root, 'guild.yaml'),
    'model: demo/x\nproviders: {demo: {kind: scripted, script: s.yaml}}\n',
  );
  fs.writeFileSync(path.join(root, 's.yaml'), script);
  for (const [name, text] of Object.entries(agents)) fs.writeFileSync(path.join(root, `agents/${name}.md`), text);
  trust(root);
  const workspace = await openWorkspace(root, { env: {}, ...(model ? { model } : {}) });
  t.after(async () => {
    await workspace.close();
    await removeFolder(root);
  });
  return workspace;
}

async function delegated(more: string, agents = AGENTS) {
  const script = `
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: hand, task: say it, ${more}}}]}
- {agent: lead, turn: 2, say: done}
- {agent: hand, when: {last: 'tone: kind', system: Be plain}, say: kindly}
- {agent: hand, when: {system: Be plain}, say: plainly}
`;
  const disk = simDisk();
  writeStory(disk, {
    name: 'x',
    agents,
    tasks: { ask: { description: 'x', to: 'lead' } },
    script,
    results: {},
    calls: 0,
  });
  const world = cluster(script);
  const proc = world.start(disk);
  await untilQuiet(proc);
  const opened = await proc.store.sessions.open('lead-ask');
  const messages = opened.kind === 'open' ? opened.session.messages : [];
  const child = (await proc.store.tasks.ended()).find(({ task }) => task.to === 'hand')?.task;
  return { result: messages.find((message) => message.role === 'tool')?.content ?? '', child };
}
