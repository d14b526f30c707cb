/**
 * Budgets in a running engine: greedy children, calls that do not fit, last turns, child limits.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { costMicroUsd } from '../../../src/domain/budget/price.js';
import type { Task } from '../../../src/domain/task/task.js';
import { cluster, play, ROOT, type Proc, type Cluster } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (front: string): string => `---\n${front}\n---\nDo what you are asked.\n`;
const PRICE = { input: 2, output: 10 };

/** A model that uses its full output limit and costs money. */
function costly(proc: Proc): Proc {
  const { model } = proc.ports;
  proc.ports.price = () => PRICE;
  proc.ports.model = {
    async call(request) {
      const reply = await model.call(request);
      if (!reply.ok) return reply;
      const outputTokens = Math.min(reply.answer.outputTokens, request.settings.maxTokens ?? Infinity);
      const answer = { ...reply.answer, outputTokens };
      return { ok: true, answer: { ...answer, microUsd: costMicroUsd(PRICE, answer) } };
    },
  };
  return proc;
}

function started(story: Pick<Story, 'agents' | 'tasks' | 'script'>): { disk: SimDisk; house: Cluster; proc: Proc } {
  const disk = simDisk();
  writeStory(disk, { name: 'budget', results: {}, calls: 0, files: { 'a.txt': 'x' }, ...story });
  const house = cluster(story.script);
  return { disk, house, proc: costly(house.start(disk)) };
}

function records(disk: SimDisk): Map<string, Task & { state: string }> {
  const all = new Map<string, Task & { state: string }>();
  for (const state of ['completed', 'failed', 'pending', 'waiting', 'active']) {
    for (const name of disk.list(path.join(ROOT, 'tasks', state))) {
      const read = disk.read(path.join(ROOT, 'tasks', state, name));
      if (read.kind === 'file') {
        const task = JSON.parse(read.bytes.toString('utf8')) as Task;
        all.set(task.id, { ...task, state });
      }
    }
  }
  return all;
}

type Usage = { input_tokens: number; output_tokens: number; micro_usd: number; turns: number; tool_calls: number };
const usage = (task: Task | undefined): Usage => task!.usage as unknown as Usage;

const GREEDY = {
  agents: {
    lead: agent('description: Leads\ntools: [delegate_to_agent]\nagents: [greedy]'),
    greedy: agent('description: Wants all\ntools: [read_file]'),
  },
  script: `
- agent: lead
  turn: 1
  call: [${'delegate_to_agent: {agent: greedy, task: take all}'
    .split('|')
    .flatMap((call) => Array.from({ length: 5 }, () => `{${call}}`))
    .join(', ')}]
- {agent: lead, say: That is all.}
- {agent: greedy, when: /Answer now/, say: I had to stop., usage: {output: 9000}}
- {agent: greedy, call: [{read_file: {path: "a{{turn}}.txt"}}], usage: {output: 5000}}
`,
};

for (const [name, budget, limit] of [
  ['tokens', { tokens: 60_000 }, 60_000],
  ['money', { usd: 0.3 }, 300_000],
  ['both', { usd: 0.3, tokens: 40_000 }, 40_000],
] as const) {
  test(`five parallel children that want everything stay within one budget of ${name}`, async () => {
    const { disk, proc } = started({ ...GREEDY, tasks: { all: { description: 'go', to: 'lead', budget } } });
    await play(proc, {}, disk);
    const all = records(disk);
    assert.equal(all.get('all')!.result, 'That is all.');
    const { input_tokens, output_tokens, micro_usd } = usage(all.get('all'));
    const spent = name === 'money' ? micro_usd : input_tokens + output_tokens;
    assert.ok(spent <= limit, `${spent} of ${limit}`);
    assert.ok(spent > limit / 3, `only ${spent} of ${limit}: the budget can be used`);
    if (name === 'both') assert.ok(micro_usd <= 300_000);
    const children = [...all.values()].filter((task) => task.parent === 'all');
    assert.equal(children.length, 5);
    for (const child of children) assert.equal(child.result, 'I had to stop.', child.id);
  });
}

test('background tasks keep their share of the budget while they are open', async () => {
  const { disk, proc } = started({
    agents: { ...GREEDY.agents, lead: agent('description: Leads\ntools: [create_task]') },
    tasks: { all: { description: 'go', to: 'lead', budget: { tokens: 90_000 } } },
    script: `
- {agent: lead, turn: [1, 2, 3, 4], call: [{create_task: {agent: greedy, description: "take all of {{turn}}"}}]}
- {agent: lead, say: I wait.}
${GREEDY.script.slice(GREEDY.script.indexOf('- {agent: greedy'))}`,
  });
  await play(proc, {}, disk);
  const all = records(disk);
  const { input_tokens, output_tokens } = usage(all.get('all'));
  assert.equal(all.size, 5);
  assert.equal(all.get('all')!.state, 'completed');
  assert.ok(input_tokens + output_tokens <= 90_000, `${input_tokens + output_tokens} of 90000`);
  const shares = [...all.values()].flatMap((task) => (task.parent ? task.budget!.tokens! : []));
  assert.ok(shares.reduce((sum, share) => sum + share, 0) < 90_000, `shares ${shares.join(', ')}`);
});

test('a budget of turns is shared with the children', async () => {
  const { disk, proc } = started({
    ...GREEDY,
    tasks: { all: { description: 'go', to: 'lead', budget: { turns: 31 } } },
  });
  await play(proc, {}, disk);
  const all = records(disk);
  assert.ok(usage(all.get('all')).turns <= 32, 'the budget, and the last answer of the root');
  for (const child of all.values()) if (child.parent) assert.equal(child.budget!.turns, 4, child.id);
});

test('the turns in an agent file limit its own conversation only', async () => {
  const { disk, proc } = started({
    agents: { ...GREEDY.agents, lead: agent('description: Leads\ntools: [delegate_to_agent]\nbudget: {turns: 2}') },
    script: GREEDY.script.replace('when: /Answer now/', 'turn: 4'),
    tasks: { all: { description: 'go', to: 'lead' } },
  });
  await play(proc, {}, disk);
  assert.equal(records(disk).get('all')!.state, 'completed');
});

test('a call that does not fit is not made, and the error names the budget and the task', async () => {
  const { disk, house, proc } = started({
    agents: { ana: agent('description: Talks\ntools: [read_file]') },
    tasks: { ask: { description: 'x'.repeat(4000), budget: { tokens: 900 } } },
    script: '- {agent: ana, say: never}\n',
  });
  await play(proc, {}, disk);
  assert.equal(house.calls.length, 0);
  const { error, state } = records(disk).get('ask')!;
  assert.equal(state, 'failed');
  assert.equal(error!.code, 'over_budget');
  assert.match(error!.message, /tokens of ask/);
});

test('tool calls beyond the budget are refused one by one, and the agent can still answer', async () => {
  const { disk, proc } = started({
    agents: { ana: agent('description: Reads\ntools: [read_file]\nbudget: {tool_calls: 2}') },
    tasks: { ask: { description: 'read' } },
    script: `
- {agent: ana, turn: 1, call: [{read_file: {path: a.txt}}, {read_file: {path: a.txt}}, {read_file: {path: a.txt}}]}
- {agent: ana, when: /tool calls for this task/, say: I read two.}
`,
  });
  await play(proc, {}, disk);
  const task = records(disk).get('ask')!;
  assert.equal(task.result, 'I read two.');
  assert.equal(usage(task).tool_calls, 2);
});

test('a budget of children limits everything created under a task', async () => {
  const { disk, proc } = started({
    ...GREEDY,
    tasks: { all: { description: 'go', to: 'lead', budget: { children: 3 } } },
    script: GREEDY.script.replace('when: /Answer now/', 'turn: 2'),
  });
  await play(proc, {}, disk);
  const all = records(disk);
  const made = [...all.values()].filter((task) => task.parent === 'all');
  assert.ok(made.length <= 3, `${made.length} children`);
  assert.equal(all.get('all')!.state, 'completed');
});

test('limits.children applies without a budget, and the agent sees the error', async () => {
  const disk = simDisk();
  writeStory(disk, { name: 'x', results: {}, calls: 0, ...GREEDY, tasks: { all: { description: 'go', to: 'lead' } } });
  const house = cluster(GREEDY.script.replace('when: /Answer now/', 'turn: 2'));
  const proc = house.start(disk);
  proc.ports.config.limits = { ...proc.ports.config.limits, children: 2 };
  await play(proc, {}, disk);
  const made = [...records(disk).values()].filter((task) => task.parent === 'all');
  assert.equal(made.length, 2);
  const messages = house.calls.flatMap((call) => call.messages);
  assert.ok(messages.some(({ content }) => /over_limit.*2 children/.test(content)));
});

test('advisors get a share of the budget, and the work gets what they leave', async () => {
  const { disk, proc } = started({
    agents: {
      boss: agent('description: Decides\nadvisors: [legal, risk]\nbudget: {tokens: 30k}'),
      legal: agent('description: Law'),
      risk: agent('description: Risk'),
    },
    tasks: { plan: { description: 'Do we start?', to: 'boss' } },
    script: `- {agent: "*", say: Yes., usage: {input: 100, output: 50}}\n`,
  });
  await play(proc, {}, disk);
  const all = records(disk);
  assert.equal(all.get('plan.advisor-legal')!.budget!.tokens, 10_000);
  assert.equal(all.get('plan.work')!.budget!.tokens, 30_000 - 2 * 150);
  assert.equal(all.get('plan')!.state, 'completed');
});

test('an agent that repeats itself is warned once, then fails', async () => {
  const { disk, house, proc } = started({
    agents: { ana: agent('description: Repeats\ntools: [read_file]') },
    tasks: { ask: { description: 'read' } },
    script: '- {agent: ana, call: [{read_file: {path: a.txt}}]}\n',
  });
  await play(proc, {}, disk);
  const { error } = records(disk).get('ask')!;
  assert.equal(error!.code, 'over_limit');
  assert.match(error!.message, /ana is stuck in a loop: read_file/);
  assert.match(error!.hint!, /guild task tell continues it/);
  assert.equal(house.calls.length, 4, 'three, a warning, one more');
});

test('an agent that heeds the warning continues', async () => {
  const { disk, proc } = started({
    agents: { ana: agent('description: Repeats\ntools: [read_file]') },
    tasks: { ask: { description: 'read' } },
    script: `
- {agent: ana, when: /You are repeating yourself/, say: It says x.}
- {agent: ana, call: [{read_file: {path: a.txt}}]}
`,
  });
  await play(proc, {}, disk);
  assert.equal(records(disk).get('ask')!.result, 'It says x.');
});

test('time is reserved for a last answer', async () => {
  const { disk, proc } = started({
    agents: { ana: agent('description: Slow\ntools: [read_file]') },
    tasks: { ask: { description: 'read', budget: { time: '100s' } } },
    script: `
- {agent: ana, when: /budget of time/, say: What I have.}
- {agent: ana, wait: 85s, call: [{read_file: {path: a.txt}}]}
`,
  });
  await play(proc, {}, disk);
  assert.equal(records(disk).get('ask')!.result, 'What I have.');
});

test('parallel children each get all the remaining time, and it counts once', async () => {
  const { disk, proc } = started({
    agents: {
      boss: agent('description: Decides\nadvisors: [legal, risk, tax]\nbudget: {time: 100s}'),
      legal: agent('description: L'),
      risk: agent('description: R'),
      tax: agent('description: T'),
    },
    tasks: { plan: { description: 'Do we start?', to: 'boss' } },
    script: `- {agent: "*", wait: 1s, say: Yes.}\n`,
  });
  await play(proc, {}, disk);
  const all = records(disk);
  assert.equal(all.get('plan')!.state, 'completed');
  assert.equal((all.get('plan.advisor-tax')!.budget as unknown as { time_ms: number }).time_ms, 100_000);
});

const FAN = {
  agents: {
    lead: agent('description: Leads\ntools: [create_task]'),
    hand: agent('description: Helps'),
  },
  // The first child gets four of the ten, the next one fewer. Nothing is left for the fifth,
  // although the first four use none of their shares.
  tasks: { t: { description: 'Go', to: 'lead', budget: { children: 10 } } },
  script: `
${[1, 2, 3, 4, 5].map((n) => `- {agent: lead, turn: ${n}, call: [{create_task: {agent: hand, description: part ${n}}}]}`).join('\n')}
- {agent: hand, say: Done.}
- {agent: lead, say: All done.}
`,
};

test('a task waits for budget that open children may give back', async () => {
  const { disk, proc } = started(FAN);
  await play(proc, {}, disk);
  const all = records(disk);
  const made = [...all.values()].filter((task) => task.parent === 't');
  assert.deepEqual(
    made.map((task) => task.state),
    Array.from({ length: 5 }, () => 'completed'),
  );
  assert.equal(all.get('t')!.result, 'All done.');
  const waits = (await proc.ports.events.list()).map((event) => event['waits'] as Task['waits']);
  const first = waits.find((wait) => wait?.budget !== undefined);
  assert.equal(first?.budget, 'children');
  const could = made.filter((task) => (task.budget?.children ?? 0) > 0).map((task) => task.id);
  assert.equal(could.length, 3, 'two of the first four, and the one that was asked for later');
  assert.ok(first.tasks?.length === 2 && first.tasks.every((id) => could.includes(id)));
});

test('a child is refused at once if no open child can give budget back', async () => {
  const { disk, proc } = started({ ...FAN, tasks: { t: { description: 'Go', to: 'lead', budget: { children: 1 } } } });
  await play(proc, {}, disk);
  const all = [...records(disk).values()];
  assert.equal(all.filter((task) => task.parent === 't').length, 1);
  assert.ok(!(await proc.ports.events.list()).some((event) => (event['waits'] as Task['waits'])?.budget !== undefined));
});
