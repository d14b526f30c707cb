/** Every call has an event, and the events add up to the usage in the records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import type { Model } from '../../../src/ports/model.js';
import type { Lag } from '../../../src/adapters/files/base/lag.js';
import { AT_ONCE, cluster, ROOT, untilQuiet, WHEN_ASKED, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: x\n${front}\n---\nDo what you are asked.\n`;

const STORY: Story = {
  name: 'books',
  agents: { lead: agent('tools: [delegate_to_agent, read_file]\nagents: [aide]'), aide: agent('') },
  tasks: { top: { description: 'go', to: 'lead' } },
  script: '',
  results: {},
  calls: 0,
};

function lines(disk: SimDisk, name: Event['name']): Event[] {
  const texts = [...disk.tree()].flatMap(([file, text]) => (file.startsWith(`${ROOT}/events/`) ? text : []));
  const all = texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as Event);
  return all.filter((event) => event.name === name);
}

function usage(disk: SimDisk): { turns: number; tool_calls?: number } {
  const text = disk.tree().get(`${ROOT}/tasks/completed/top.json`)!;
  return (JSON.parse(text) as { usage: { turns: number } }).usage;
}

for (const [budget, what] of [
  [{ tool_calls: 2 }, 'tool calls'],
  [{ children: 2 }, 'children'],
] as const) {
  test(`a call beyond the budget of ${what} has an event and is not counted as made`, async () => {
    const script = `
- agent: lead
  turn: 1
  call: [{delegate_to_agent: {agent: aide, task: a}}, {delegate_to_agent: {agent: aide, task: b}}, {delegate_to_agent: {agent: aide, task: c}}, {delegate_to_agent: {agent: aide, task: d}}]
- {agent: "*", say: Done.}
`;
    const disk = simDisk();
    writeStory(disk, { ...STORY, tasks: { top: { description: 'go', to: 'lead', budget } } });
    await untilQuiet(cluster(script).start(disk));
    const ran = lines(disk, 'tool.ran');
    assert.equal(ran.length, 4, 'every call has an event');
    const made = ran.filter((event) => event['made'] !== false);
    assert.ok(made.length < 4, 'some were over the budget');
    assert.equal(usage(disk).tool_calls, made.length);
  });
}

test('an answer that an edit discards has an event like every paid call', async () => {
  const disk = simDisk();
  writeStory(disk, STORY);
  const proc = cluster('- {agent: lead, say: Done.}').start(disk);
  const { model } = proc.ports;
  let calls = 0;
  const edited: Model = {
    async call(request) {
      if (++calls === 2) {
        const file = `${ROOT}/sessions/lead-top.session.yaml`;
        disk.save(file, `${disk.tree().get(file)!}  - role: user\n    content: And be quick.\n`);
      }
      if (calls > 1) return model.call(request);
      const toolCalls = [{ id: 'c', name: 'read_file', arguments: { path: 'none.md' } }];
      const cost = { inputTokens: 7, outputTokens: 2, cachedTokens: 0, microUsd: 0 };
      return { ok: true, answer: { text: '', toolCalls, finish: 'tool_calls', ...cost } };
    },
  };
  proc.ports.model = edited;
  await untilQuiet(proc);
  assert.equal(calls, 3, 'the edit was noticed');
  assert.equal(lines(disk, 'model.answered').length, 3);
  assert.equal(usage(disk).turns, 2, 'the task counts only answers in its conversation');
});

test('the error of a budget that is too small says how much is left', async () => {
  const disk = simDisk();
  const agents = { lead: agent('router: {destinations: [aide]}'), aide: agent('') };
  writeStory(disk, { ...STORY, agents, tasks: { top: { description: 'go', to: 'lead', budget: { tokens: 3000 } } } });
  const house = cluster('- {agent: aide, say: Done.}');
  await untilQuiet(house.start(disk));
  const { error } = JSON.parse(disk.tree().get(`${ROOT}/tasks/failed/top.work.json`)!) as {
    error: { message: string; hint: string };
  };
  assert.match(
    error.message,
    /^the budget of tokens of top\.work is used up before there was an answer: 1500 tokens are left/,
  );
  assert.equal(error.hint, 'raise `budget` in the agent, the task or guild.yaml, then retry the task');
  assert.equal(house.calls.length, 0);
});

const TEAM: Story = {
  ...STORY,
  agents: { lead: agent('team: {members: [ana, bob], maxRounds: 3}'), ana: agent(''), bob: agent('') },
  script: `
- {agent: [ana, bob], task: "*-3", when: Round 3, call: [{vote_conclude: {}}]}
- {agent: [ana, bob], when: Round 2, call: [{broadcast: {message: I think so.}}]}
- {say: Done.}
`,
};

for (const when of ['on demand', 'at once', 'while a model thinks'] as const) {
  test(`a team member acts once per turn if the disk is written ${when}`, async () => {
    const disk = simDisk();
    writeStory(disk, TEAM);
    const waking: (() => void)[] = [];
    const lag: Lag =
      when === 'at once' ? AT_ONCE : when === 'on demand' ? WHEN_ASKED : (wake) => void waking.push(wake);
    const house = cluster(TEAM.script, [], lag);
    const proc = house.start(disk);
    const { model } = proc.ports;
    proc.ports.model = {
      async call(request) {
        for (const wake of waking.splice(0)) wake();
        await new Promise(setImmediate);
        return model.call(request);
      },
    };
    await passes(proc);
    const { turns, tool_calls } = usage(disk);
    assert.equal(turns, 2 * (1 + 1 + 1) + 1, 'two members who speak, broadcast and vote, and the answer');
    assert.equal(house.calls.length, turns, 'no model was asked twice');
    assert.equal(lines(disk, 'tool.ran').length, tool_calls, 'no call was executed twice');
  });
}

/** As a watching process: passes follow each other without waiting for the disk. */
async function passes(proc: Proc): Promise<void> {
  const { engine } = proc;
  for (let moved = true; moved;) {
    moved = (await engine.pass('changed', () => undefined)).moved;
    await Promise.all([...engine.flights.values()].map((flight) => flight.done));
  }
  await untilQuiet(proc);
}
