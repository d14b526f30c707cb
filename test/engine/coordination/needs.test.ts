/** Dependencies of all five types in a running engine: providers, answers and failures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import { makeTask } from '../../../src/domain/task/task.js';
import { cluster, play, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: Does its part\n${front}\n---\nDo what you are asked.\n`;
const BUS = { 'bus/state.jsonl': '' };
const LED = { ...BUS, 'guild.yaml': 'coordination: { coordinator: pm }\n' };

interface Run {
  result(id: string): Promise<string>;
  proc: Proc;
  disk: SimDisk;
  /** The agents of the model calls, in order. */
  calls: string[];
  events(name: Event['name']): Promise<Event[]>;
}

async function run(story: Pick<Story, 'agents' | 'tasks' | 'script'> & Partial<Story>): Promise<Run> {
  const disk = simDisk();
  writeStory(disk, { name: 'x', results: {}, calls: 0, ...story });
  const house = cluster(story.script, story.asks);
  const proc = house.start(disk);
  await play(proc, story, disk);
  return {
    proc,
    disk,
    calls: house.calls.map((call) => call.agent),
    events: async (name) => (await proc.ports.events.list()).filter((event) => event.name === name),
    async result(id) {
      const placed = await proc.ports.tasks.read(id);
      return placed?.task.result ?? placed?.task.error?.message ?? `it is ${placed?.state}`;
    },
  };
}

const ANA = agent('tools: [request_dependency]');
const PAIR = { ana: ANA, ben: agent('expertise: [schema]'), cyd: agent('expertise: [colours]') };
const ASK = { t: { description: 'Write the query', to: 'ana' } };

for (const files of [undefined, BUS]) {
  test(`the agent that has the data is asked, and the data returns as a resolution${files ? ' (by offers)' : ''}`, async () => {
    const { result, calls, events } = await run({
      agents: PAIR,
      tasks: ASK,
      ...(files ? { files } : {}),
      script: `
- {agent: ana, turn: 1, call: [{request_dependency: {type: data, need: the columns of users, data_type: schema, urgency: high}}]}
- {agent: ben, when: the columns of users, say: "id, name"}
- {agent: ana, turn: 2, when: '/"status":"resolved","provider":"ben","data":"id, name"/', say: Done.}
`,
    });
    assert.equal(await result('t'), 'Done.');
    assert.deepEqual(calls, ['ana', 'ben', 'ana']);
    assert.deepEqual(
      (await events('dependency.resolved')).map((event) => [event.agent, event['status']]),
      [['ben', 'resolved']],
    );
  });
}

test('the coordinator chooses the provider, sees the ranking and may override it', async () => {
  const { result, calls } = await run({
    agents: { ...PAIR, pm: agent('tools: []') },
    tasks: ASK,
    files: LED,
    script: `
- {agent: ana, turn: 1, call: [{request_dependency: {type: data, need: the columns, data_type: schema}}]}
- {agent: pm, when: '/- ben.*60 of 100/', call: [{assign_provider: {agent: cyd, reason: ben is on leave}}]}
- {agent: cyd, when: the columns, say: "id"}
- {agent: ana, turn: 2, when: '"provider":"cyd"', say: Done.}
`,
  });
  assert.equal(await result('t'), 'Done.');
  assert.deepEqual(calls, ['ana', 'pm', 'cyd', 'ana']);
});

test('a coordinator with an invalid answer is asked once more; then the rule decides', async () => {
  const { result, calls } = await run({
    agents: { ...PAIR, pm: agent('tools: []') },
    tasks: ASK,
    files: LED,
    script: `
- {agent: ana, turn: 1, call: [{request_dependency: {type: expertise, need: the columns, expertise: [schema]}}]}
- {agent: pm, turn: 1, say: Somebody should.}
- {agent: pm, turn: 2, call: [{assign_provider: {agent: ana}}]}
- {agent: ben, say: "id"}
- {agent: ana, turn: 2, when: '"provider":"ben"', say: Done.}
`,
  });
  assert.equal(await result('t'), 'Done.');
  assert.deepEqual(calls, ['ana', 'pm', 'pm', 'ben', 'ana']);
});

test('if the provider fails, the next best is asked once', async () => {
  const { result, calls } = await run({
    agents: {
      ana: ANA,
      ben: agent('expertise: [schema, sql]'),
      cyd: agent('expertise: [schema]'),
      dan: agent('expertise: [schema]\nmax_concurrent_tasks: 1'),
    },
    tasks: ASK,
    files: BUS,
    script: `
- {agent: ana, turn: 1, call: [{request_dependency: {type: expertise, need: columns, expertise: [schema, sql]}}]}
- {agent: ben, call: [{provide_dependency: {status: failed, data: I forgot}}]}
- {agent: [cyd, dan], fail: refused, message: no}
- {agent: ana, turn: 2, when: '/"status":"failed"[^]*"code":"dependency_failed"/', say: Without it then.}
`,
  });
  assert.equal(await result('t'), 'Without it then.');
  assert.equal(calls.length, 4);
});

test('expertise that no agent has is refused, and the asker continues', async () => {
  const { result, events } = await run({
    agents: PAIR,
    tasks: ASK,
    script: `
- {agent: ana, turn: 1, call: [{request_dependency: {type: expertise, need: a tune, expertise: [music]}}]}
- {agent: ana, turn: 2, when: '/"code":"nobody_fit","message":"no other agent has music"/', say: No tune.}
`,
  });
  assert.equal(await result('t'), 'No tune.');
  assert.equal((await events('dependency.resolved'))[0]!['status'], 'failed');
});

test('impossible requests are refused at once with a typed problem and an event, and create no task', async () => {
  const { result, proc, events } = await run({
    agents: PAIR,
    tasks: ASK,
    script: `
- agent: ana
  turn: 1
  call:
    - request_dependency: {type: data, need: x, deadline: "2020-01-01T00:00:00Z"}
    - request_dependency: {type: data, need: x, deadline: soon}
    - request_dependency: {type: sequence, need: x, after: t-none}
    - request_dependency: {type: sequence, need: x, after: t}
    - request_dependency: {type: approval, need: x, reviewer: benn}
    - request_dependency: {type: approval, need: x, reviewer: ana}
    - request_dependency: {type: resource, need: x, resource: "../key"}
    - request_dependency: {type: resource, need: x}
    - request_dependency: {type: data, need: " "}
    - request_dependency: {type: magic, need: x}
    - request_dependency: {type: data, need: ${'x'.repeat(17_000)}}
- {agent: ana, turn: 2, say: Understood.}
`,
  });
  assert.equal(await result('t'), 'Understood.');
  const opened = await proc.ports.sessions.open('ana-t');
  const replies = opened.kind === 'open' ? opened.session.messages.filter(({ role }) => role === 'tool') : [];
  assert.deepEqual(
    replies.map(({ content, isError }) => [content.split(':')[0], isError]),
    'bad_field bad_field not_found cycle unknown_agent not_allowed bad_name bad_field bad_field bad_field over_limit'
      .split(' ')
      .map((code) => [code, true]),
  );
  assert.match(replies[4]!.content, /did you mean ben\?/);
  assert.equal((await events('dependency.refused')).length, 6);
  assert.equal((await proc.ports.tasks.ended()).length, 1);
});

test("a missed deadline ends the request as timed out and cancels the provider's task", async () => {
  const { result, calls, proc } = await run({
    agents: { ana: ANA, ben: agent('expertise: [schema]\ntools: [write_file]') },
    tasks: ASK,
    asks: ['write_file'],
    script: `
- {agent: ana, turn: 1, call: [{request_dependency: {type: data, need: columns, data_type: schema, deadline: 10m}}]}
- {agent: ben, turn: 1, call: [{write_file: {path: x.txt, content: x}}]}
- {agent: ana, turn: 2, when: '"code":"timed_out"', say: Too late.}
`,
  });
  assert.equal(await result('t'), 'Too late.');
  assert.deepEqual(calls, ['ana', 'ben', 'ana']);
  assert.equal(proc.ports.tasks.openCount(), 0);
});

test('requests of one turn go out together, after the asker has parked', async () => {
  const seen: number[] = [];
  const disk = simDisk();
  const story = {
    agents: PAIR,
    tasks: ASK,
    script: `
- agent: ana
  turn: 1
  call:
    - request_dependency: {type: data, need: columns, data_type: schema}
    - request_dependency: {type: expertise, need: red or blue, expertise: [colours]}
- {agent: ben, say: id}
- {agent: cyd, say: blue}
- {agent: ana, turn: 2, say: Both are there.}
`,
  };
  writeStory(disk, { name: 'x', results: {}, calls: 0, ...story });
  const proc = cluster(story.script).start(disk, {
    watchers: {
      event({ name }) {
        if (name === 'dependency.requested')
          seen.push(
            [...proc.ports.tasks.open()].filter(({ task, state }) => task.id === 't' && state === 'waiting').length,
          );
      },
    },
  });
  await untilQuiet(proc);
  assert.deepEqual(seen, [1, 1]);
  assert.equal((await proc.ports.tasks.read('t'))?.task.result, 'Both are there.');
});

test('one task at a time holds a resource, until that task ends', async () => {
  const { result, proc } = await run({
    agents: { ana: ANA, ben: ANA },
    tasks: { a: { description: 'print A', to: 'ana' }, b: { description: 'print B', to: 'ben' } },
    script: `
- {agent: [ana, ben], turn: 1, call: [{request_dependency: {type: resource, need: to print, resource: printer}}]}
- {agent: [ana, ben], turn: 2, when: you hold printer, call: [{request_dependency: {type: resource, need: again, resource: printer}}]}
- {agent: [ana, ben], turn: 3, when: you hold printer, say: Printed.}
`,
  });
  assert.deepEqual([await result('a'), await result('b')], ['Printed.', 'Printed.']);
  const listed = (await proc.ports.events.list()).filter(
    ({ name }) => name === 'dependency.resolved' || name === 'task.completed',
  );
  const line = listed.flatMap(({ name, task }) =>
    name === 'dependency.resolved' || !task!.includes('.') ? `${task!.split('.')[0]} ${name.split('.')[1]}` : [],
  );
  const [first, second] = line[0]!.startsWith('a') ? ['a', 'b'] : ['b', 'a'];
  assert.deepEqual(
    line,
    [first, second].flatMap((id) => [`${id} resolved`, `${id} resolved`, `${id} completed`]),
  );
});

test('a sequence resolves when the other task completes and fails when it fails', async () => {
  const { result } = await run({
    agents: { ana: ANA, ben: agent('tools: []'), cyd: agent('model: nobody/knows') },
    tasks: {
      t: { description: 'After both', to: 'ana' },
      good: { description: 'first', to: 'ben' },
      bad: { description: 'second', to: 'cyd' },
    },
    script: `
- agent: ana
  turn: 1
  call:
    - request_dependency: {type: sequence, need: it must be there, after: good}
    - request_dependency: {type: sequence, need: this too, after: bad}
- {agent: ben, say: It stands.}
- {agent: ana, turn: 2, when: '/"code":"dependency_failed"/', say: One of two.}
`,
  });
  assert.equal(await result('t'), 'One of two.');
});

test("an approval goes to the ballot, and the human's answer returns to the asker", async () => {
  const ballot = '/w/tasks/approvals.task.md';
  for (const [box, expected] of [
    ['[x]', 'Go.'],
    ['[-]', 'Stop.'],
  ] as const) {
    const { result } = await run({
      agents: PAIR,
      tasks: ASK,
      human(disk) {
        const read = disk.read(ballot);
        const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
        if (!text.includes('- [_]')) return false;
        assert.match(text, /Approve for ana`[^]*need: Shall I drop the table\?/);
        disk.save(ballot, text.replaceAll('- [_]', `- ${box}`));
        return true;
      },
      script: `
- {agent: ana, turn: 1, call: [{request_dependency: {type: approval, need: "Shall I drop the table?"}}]}
- {agent: ana, turn: 2, when: '/"status":"resolved","provider":"human"/', say: Go.}
- {agent: ana, turn: 2, when: '/"code":"not_allowed"/', say: Stop.}
`,
    });
    assert.equal(await result('t'), expected);
  }
});

test('a reviewer approves with its tool; a text answer is only partial', async () => {
  const ask = `- {agent: ana, turn: 1, call: [{request_dependency: {type: approval, need: ship it, reviewer: ben}}]}\n`;
  const cases: [string, RegExp][] = [
    ['call: [{provide_dependency: {status: resolved}}]', /"status":"resolved","provider":"ben"/],
    [
      'call: [{provide_dependency: {status: failed, data: no tests}}]',
      /"code":"not_allowed","message":"ben could not provide it: no tests/,
    ],
    ['say: Looks fine to me.', /"status":"partial","provider":"ben","data":"Looks fine to me."/],
  ];
  for (const [answer, expected] of cases) {
    const { proc } = await run({
      agents: PAIR,
      tasks: ASK,
      script: `${ask}- {agent: ben, ${answer}}\n- {agent: ana, turn: 2, say: I see.}\n`,
    });
    const opened = await proc.ports.sessions.open('ana-t');
    assert.match(
      opened.kind === 'open' ? opened.session.messages.find(({ role }) => role === 'tool')!.content : '',
      expected,
    );
  }
});

test('a task that waits for a resource can be stopped and answers with what it has', async () => {
  const disk = simDisk();
  const script = `
- {agent: ana, turn: 1, call: [{request_dependency: {type: resource, need: to print, resource: printer}}]}
- {agent: ana, turn: 2, call: [{request_dependency: {type: approval, need: Shall I print?}}]}
- {agent: ben, turn: 1, call: [{request_dependency: {type: resource, need: to print, resource: printer}}]}
- {agent: ben, turn: 2, when: You were asked to stop, say: I have nothing yet.}
`;
  const tasks = { a: { description: 'print A', to: 'ana' } };
  writeStory(disk, { name: 'x', results: {}, calls: 0, agents: { ana: ANA, ben: ANA }, tasks, script });
  const proc = cluster(script).start(disk);
  const { store } = proc;
  const { clock } = proc.ports;
  await untilQuiet(proc);
  const at = clock.now().toISOString();
  await store.tasks.create(makeTask({ id: 'b', description: 'print B', to: 'ben', created_at: at }));
  await untilQuiet(proc);
  assert.equal((await store.tasks.read('b'))?.state, 'waiting');
  await store.intents.submit({ kind: 'stop', id: 's1', task: 'b', by: 'human', at });
  await untilQuiet(proc);
  assert.equal((await store.tasks.read('b'))?.task.result, 'I have nothing yet.');
  assert.equal(await store.locks.holder('resource-printer'), 'a');
});

test('a released resource goes to the next waiting task, and only its holder can release it', async () => {
  const hold = (resource: string): string => `{request_dependency: {type: resource, need: it, resource: ${resource}}}`;
  const { result, events } = await run({
    agents: { ana: ANA, ben: ANA },
    tasks: { a: { description: 'print A', to: 'ana', priority: 'A' }, b: { description: 'print B', to: 'ben' } },
    script: `
- {agent: ana, turn: 1, call: [${hold('printer')}, ${hold('scanner')}]}
- {agent: ana, turn: 2, call: [{give_back: {resource: printer}}, ${hold('printer')}]}
- {agent: ana, turn: 3, when: you hold printer, say: A is printed twice.}
- {agent: ben, turn: 1, call: [${hold('printer')}]}
- {agent: ben, turn: 2, call: [{give_back: {resource: scanner}}]}
- {agent: ben, turn: 3, when: you do not hold scanner; a does, say: B is printed.}
`,
  });
  assert.deepEqual([await result('a'), await result('b')], ['A is printed twice.', 'B is printed.']);
  const ended = (await events('task.completed')).flatMap(({ task }) => (task === 'a' || task === 'b' ? task : []));
  assert.deepEqual(ended, ['b', 'a'], 'b had it while a was open');
});
