/** Help requests in a running engine: the helper, the accounting of its work, and escalation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import { cluster, play, type Proc } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (description: string, front = 'tools: []'): string =>
  `---\ndescription: ${description}\n${front}\n---\nDo what you are asked.\n`;
const BUS = { 'bus/state.jsonl': '' };
const ASKER = agent('Builds the shop', 'tools: [request_help]');

async function run(story: Pick<Story, 'agents' | 'tasks' | 'script'> & Partial<Story>): Promise<{
  proc: Proc;
  calls: string[];
  result(id: string): Promise<string>;
  events(name: Event['name']): Promise<Event[]>;
}> {
  const disk = simDisk();
  writeStory(disk, { name: 'x', results: {}, calls: 0, files: BUS, ...story });
  const house = cluster(story.script);
  const proc = house.start(disk);
  await play(proc, story, disk);
  return {
    proc,
    calls: house.calls.map((call) => call.agent),
    events: async (name) => (await proc.ports.events.list()).filter((event) => event.name === name),
    async result(id) {
      const placed = await proc.ports.tasks.read(id);
      return placed?.task.result ?? placed?.task.error?.message ?? `it is ${placed?.state}`;
    },
  };
}

const HELP = `call: [{request_help: {kind: review, context: "Is this SQL query on postgres safe?", capabilities: [review]}}]`;

test('a relevant agent with all capabilities helps, and its work counts towards the asker', async () => {
  const { proc, calls, result, events } = await run({
    agents: {
      ana: ASKER,
      ben: agent('Paints', 'capabilities: [review]\nexpertise: [colours]'),
      cyd: agent('Knows databases', 'capabilities: [review]\nexpertise: [sql, postgres]'),
      dan: agent('Knows databases', 'expertise: [sql, postgres]'),
    },
    tasks: { t: { description: 'Build it', to: 'ana' } },
    script: `
- {agent: ana, turn: 1, ${HELP}}
- {agent: cyd, when: '/asks for your review[^]*postgres safe/', say: It is safe.}
- {agent: ana, turn: 2, when: '/"status":"resolved","provider":"cyd","data":"It is safe."/', say: Built.}
`,
  });
  assert.equal(await result('t'), 'Built.');
  assert.deepEqual(calls, ['ana', 'cyd', 'ana']);
  assert.deepEqual(
    (await events('help.given')).map((event) => event.agent),
    ['cyd'],
  );
  assert.equal((await proc.ports.tasks.read('t'))!.task.usage?.turns, 3);
});

test('an agent with finished work in an open root is preferred to one that never had work', async () => {
  const { calls } = await run({
    agents: {
      ana: agent('Builds the shop', 'tools: [request_help, delegate_to_agent]'),
      aaa: agent('Knows databases', 'capabilities: [review]\nexpertise: [sql, postgres]\npriority: A'),
      cyd: agent('Knows databases', 'capabilities: [review]\nexpertise: [sql, postgres]\npriority: D'),
    },
    tasks: { t: { description: 'Build it', to: 'ana' } },
    script: `
- {agent: ana, turn: 1, call: [{delegate_to_agent: {agent: cyd, task: warm up}}]}
- {agent: cyd, when: warm up, say: Warm.}
- {agent: ana, turn: 2, ${HELP}}
- {agent: [aaa, cyd], when: postgres safe, say: It is safe.}
- {agent: ana, turn: 3, say: Built.}
`,
  });
  assert.deepEqual(calls, ['ana', 'cyd', 'ana', 'cyd', 'ana']);
});

test('if all candidates are busy, the first one that becomes free helps', async () => {
  const { calls, events } = await run({
    agents: {
      ana: ASKER,
      cyd: agent('Knows databases', 'capabilities: [review]\nexpertise: [sql, postgres]\ntools: [delegate_to_agent]'),
      eve: agent('Slow', 'tools: []'),
    },
    tasks: { t: { description: 'Build it', to: 'ana' }, own: { description: 'own work', to: 'cyd', priority: 'A' } },
    script: `
- {agent: ana, turn: 1, ${HELP}}
- {agent: cyd, turn: 1, when: own work, call: [{delegate_to_agent: {agent: eve, task: dig}}]}
- {agent: eve, say: Dug.}
- {agent: cyd, turn: 2, when: Dug, say: Done.}
- {agent: cyd, turn: 1, when: postgres safe, say: It is safe.}
- {agent: ana, turn: 2, when: '"provider":"cyd"', say: Built.}
`,
  });
  assert.equal(calls.at(-1), 'ana');
  assert.equal((await events('help.escalated')).length, 0);
});

test('a help request that times out goes to the coordinator', async () => {
  const { calls, events, result } = await run({
    agents: { ana: ASKER, ben: agent('Paints', 'capabilities: [review]\nexpertise: [colours]'), pm: agent('Leads') },
    files: { ...BUS, 'guild.yaml': 'coordination: { coordinator: pm, help: 5m }\n' },
    tasks: { t: { description: 'Build it', to: 'ana' } },
    script: `
- {agent: ana, turn: 1, ${HELP}}
- {agent: pm, when: postgres safe, say: Ask no more; it is.}
- {agent: ana, turn: 2, when: '"provider":"pm"', say: Built.}
`,
  });
  assert.equal(await result('t'), 'Built.');
  assert.deepEqual(calls, ['ana', 'pm', 'ana']);
  assert.deepEqual(
    (await events('help.escalated')).map((event) => event.agent),
    ['pm'],
  );
});

test('without a coordinator a help request goes to the human, who answers on the ballot', async () => {
  const ballot = '/w/tasks/approvals.task.md';
  const { result, events } = await run({
    agents: { ana: ASKER, ben: agent('Paints', 'capabilities: [review]') },
    tasks: { t: { description: 'Build it', to: 'ana' } },
    human(disk) {
      const read = disk.read(ballot);
      const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
      if (!text.includes('- [_]')) return false;
      disk.save(
        ballot,
        text.replace('- [_]', '- [x]').replace('(write your answer here)', 'It is not: quote the name.'),
      );
      return true;
    },
    script: `
- {agent: ana, turn: 1, ${HELP}}
- {agent: ana, turn: 2, when: '/"status":"resolved","provider":"human","data":"It is not: quote the name."/', say: Fixed.}
`,
  });
  assert.equal(await result('t'), 'Fixed.');
  assert.deepEqual(
    (await events('help.escalated')).map((event) => event.agent),
    ['human'],
  );
});

test('a capability that no agent has, a deadline in the past and an empty question are refused at once', async () => {
  const { proc, events } = await run({
    agents: { ana: ASKER, ben: agent('Paints', 'capabilities: [review]') },
    tasks: { t: { description: 'Build it', to: 'ana' } },
    script: `
- agent: ana
  turn: 1
  call:
    - request_help: {context: sing, capabilities: [singing]}
    - request_help: {context: x, capabilities: [], deadline: "2001-01-01"}
    - request_help: {context: "", capabilities: []}
    - request_help: {context: ${'x'.repeat(17_000)}, capabilities: []}
- {agent: ana, turn: 2, say: I see.}
`,
  });
  const opened = await proc.ports.sessions.open('ana-t');
  const replies = opened.kind === 'open' ? opened.session.messages.filter(({ role }) => role === 'tool') : [];
  assert.deepEqual(
    replies.map(({ content }) => content.split(':')[0]),
    ['nobody_fit', 'bad_field', 'bad_field', 'over_limit'],
  );
  assert.equal((await events('help.refused')).length, 2);
});
