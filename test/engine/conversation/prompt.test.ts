/** Prompts start with the same bytes in every call and contain real lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest } from '../../../src/ports/model.js';
import { parseSession } from '../../../src/text/session/parse.js';
import { cluster, ROOT, untilQuiet, type Cluster, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { agent, writeStory } from '../../kit/stories/story.js';

interface Given {
  agents: Record<string, string>;
  tasks?: Record<string, unknown>;
  files?: Record<string, string>;
  script: string;
  asks?: string[];
}

function begin({ agents, tasks = {}, files = {}, script, asks }: Given): { disk: SimDisk; world: Cluster; proc: Proc } {
  const disk = simDisk();
  writeStory(disk, { name: '', agents, tasks, files, script, results: {}, calls: 0 });
  const world = cluster(script, asks);
  return { disk, world, proc: world.start(disk) };
}

async function played(given: Given): Promise<{ disk: SimDisk; calls: ModelRequest[]; proc: Proc }> {
  const { disk, world, proc } = begin(given);
  await untilQuiet(proc);
  return { disk, calls: world.calls, proc };
}

const head = ({ system, tools }: ModelRequest): string => JSON.stringify([system, tools]);
const first = ({ messages }: ModelRequest): string => messages[0]!.content;
const saved = (disk: SimDisk, name: string): string => disk.tree().get(`${ROOT}/${name}`)!;

test('every call of a conversation sends the same system text and tools, also after a restart and a new agent', async () => {
  const { disk, world, proc } = begin({
    agents: { ana: agent('description: A\ntools: [write_file, delegate_to_agent]'), ben: agent('description: B') },
    tasks: { top: { description: 'Go', to: 'ana' } },
    script: `- {agent: ana, turn: 1, call: [{write_file: {path: a.txt, content: a}}]}\n- {agent: ana, say: Done.}\n`,
    asks: ['write_file'],
  });
  await untilQuiet(proc);
  proc.die();
  disk.save(`${ROOT}/agents/cyd.md`, agent('description: New here'));
  disk.save(`${ROOT}/tasks/approvals.task.md`, saved(disk, 'tasks/approvals.task.md').replace('- [_]', '- [x]'));
  const next = world.start(disk);
  await untilQuiet(next);
  assert.equal((await next.ports.tasks.read('top'))?.task.result, 'Done.');
  assert.equal(world.calls.length, 2);
  assert.equal(new Set(world.calls.map(head)).size, 1);
});

test('the pins are blobs that the header names', async () => {
  const { disk, calls } = await played({
    agents: { ana: agent('description: A\ntools: [read_file]') },
    tasks: { top: { description: 'Go', to: 'ana' } },
    script: '- {say: Done.}\n',
  });
  const parsed = parseSession(saved(disk, 'sessions/ana-top.session.yaml'), 'x');
  assert.ok(parsed.ok);
  const { system, tools } = parsed.session.header.pins!;
  assert.equal(saved(disk, `storage/blobs/${system}`), calls[0]!.system);
  assert.deepEqual(JSON.parse(saved(disk, `storage/blobs/${tools}`)), calls[0]!.tools);
});

test('two tasks of an agent have the same head; what belongs to a task is in its first message', async () => {
  const { calls } = await played({
    agents: {
      ana: agent('description: A\nvariables: {tone: plain, language: ""}', 'Write in {{tone}} {{language}}.'),
      boss: agent('description: B\ntools: [delegate_to_agent]'),
    },
    tasks: { top: { description: 'Go', to: 'boss' } },
    script: `- agent: boss
  turn: 1
  call:
    - delegate_to_agent: {agent: ana, task: one, variables: {language: French}}
    - delegate_to_agent: {agent: ana, task: two, context: {working_dir: "."}, task_type: planning}
- {agent: ana, say: Fait.}
- {agent: boss, say: Done.}
`,
  });
  const [one, two] = calls.filter((call) => call.agent === 'ana');
  assert.equal(head(one!), head(two!));
  assert.match(one!.system, /^Write in plain \(language: given with the task\)\.\n/);
  assert.match(
    first(one!),
    /^one\n\nGoal it serves: Go\n\nAsked by: boss\n\nFor this task, these values replace .*:\n- language: French$/,
  );
  assert.match(first(two!), /Details:\n- working_dir: \.$/);
  const answers = calls.at(-1)!.messages.filter((message) => message.role === 'tool');
  assert.deepEqual(
    answers.map(({ content }) => (JSON.parse(content) as { task_type: string }).task_type),
    ['general', 'planning'],
  );
});

test('placeholders are filled in; others, and those in code, stay as they are', async () => {
  const prompt =
    'I am {{name}} in {{workspace}} on {{date}}. {{agents}} {{capabilities}} {{odd}} ${{ secrets.X }} `{{name}}`';
  const { calls } = await played({
    agents: { ana: agent('description: A', prompt), ben: agent('description: B\ncapabilities: [sewing]') },
    tasks: { top: { description: 'Go', to: 'ana' } },
    script: '- {say: Done.}\n',
  });
  const text =
    'I am ana in w on Thursday, 1 January 2026. - ben: B [sewing] sewing {{odd}} ${{ secrets.X }} `{{name}}`';
  assert.ok(calls[0]!.system.startsWith(`${text}\n`), calls[0]!.system);
});

test('tools that name others list the real names', async () => {
  const { calls } = await played({
    agents: {
      ana: agent('description: A\ntools: [delegate_to_agent, create_task, break_down, request_help]\nagents: [ben]'),
      ben: agent('description: Sews\ncapabilities: [sewing]'),
      cyd: agent('description: Cooks\ncapabilities: [cooking]'),
      desk: agent('description: R\nrouter: {destinations: [ben, cyd]}'),
    },
    tasks: { top: { description: 'Go', to: 'ana' }, way: { description: 'Go', to: 'desk' } },
    script: '- {agent: desk, call: [{route_to: {agent: ben}}]}\n- {say: Done.}\n',
  });
  const schema = (
    who: string,
    tool: string,
  ): Record<string, { enum?: string[]; description?: string; items?: unknown }> =>
    calls.find((call) => call.agent === who)!.tools.find(({ name }) => name === tool)!.parameters.properties!;
  assert.deepEqual(schema('ana', 'delegate_to_agent')['agent']!.enum, ['ben']);
  assert.deepEqual(schema('ana', 'create_task')['agent']!.enum, ['ben', 'cyd', 'desk']);
  assert.match(schema('ana', 'create_task')['requires']!.description!, /Existing ones: cooking, sewing/);
  assert.deepEqual((schema('ana', 'request_help')['capabilities']!.items as { enum: string[] }).enum, [
    'cooking',
    'sewing',
  ]);
  const parts = schema('ana', 'break_down')['parts']!.items as { properties: Record<string, { enum?: string[] }> };
  assert.deepEqual(parts.properties['agent']!.enum, ['ben', 'cyd', 'desk']);
  const choice = schema('desk', 'route_to')['agent']!;
  assert.deepEqual(choice.enum, ['ben', 'cyd']);
  assert.match(choice.description!, /ben: Sews\ncyd: Cooks/);
  assert.deepEqual(calls.find((call) => call.agent === 'desk')!.toolChoice, { tool: 'route_to' });
});

test('the last turn keeps its tools and forbids calls', async () => {
  const { calls } = await played({
    agents: { ana: agent('description: A\ntools: [read_file]\nbudget: {turns: 1}') },
    tasks: { top: { description: 'Go', to: 'ana' } },
    files: { 'a.md': 'x' },
    script: '- {turn: 1, call: [{read_file: {path: a.md}}]}\n- {say: Done.}\n',
  });
  assert.deepEqual(
    calls.map((call) => call.toolChoice),
    [undefined, 'none'],
  );
  assert.equal(new Set(calls.map(head)).size, 1);
});

test('a tool that is taken away can no longer be called, and the agent is informed once', async () => {
  const { disk, world, proc } = begin({
    agents: { ana: agent('description: A\ntools: [write_file, read_file]') },
    tasks: { top: { description: 'Go', to: 'ana' } },
    files: { 'a.md': 'x' },
    script: `- {agent: ana, turn: 1, call: [{write_file: {path: a.txt, content: a}}]}
- {agent: ana, turn: 2, call: [{write_file: {path: b.txt, content: b}}]}
- {agent: ana, turn: 3, call: [{read_file: {path: a.md}}]}
- {agent: ana, say: Done.}
`,
    asks: ['write_file'],
  });
  await untilQuiet(proc);
  disk.save(`${ROOT}/agents/ana.md`, agent('description: A\ntools: [read_file]'));
  disk.save(`${ROOT}/tasks/approvals.task.md`, saved(disk, 'tasks/approvals.task.md').replace('- [_]', '- [x]'));
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('top'))?.task.result, 'Done.');
  assert.equal(disk.read(`${ROOT}/a.txt`).kind, 'missing', 'not even the approved call');
  assert.equal(disk.read(`${ROOT}/b.txt`).kind, 'missing');
  const { messages } = world.calls.at(-1)!;
  const told = messages.filter((message) => message.kind === 'tool_removed');
  assert.deepEqual(
    told.map(({ content }) => content),
    ['You can no longer call write_file.'],
  );
  assert.equal(new Set(world.calls.map(head)).size, 1, 'the pinned tools stay');
});

test('a tool that a person adds is announced once in a message, and can be called from then on', async () => {
  const { disk, world, proc } = begin({
    agents: { ana: agent('description: A\ntools: [write_file]') },
    tasks: { top: { description: 'Go', to: 'ana' } },
    files: { 'a.md': 'The old plan' },
    script: `- {agent: ana, turn: 1, call: [{write_file: {path: a.txt, content: a}}]}
- {agent: ana, turn: 2, call: [{read_file: {path: a.md}}]}
- {agent: ana, turn: 3, call: [{write_file: {path: b.txt, content: b}}]}
- {agent: ana, say: Done.}
`,
    asks: ['write_file'],
  });
  await untilQuiet(proc);
  disk.save(`${ROOT}/agents/ana.md`, agent('description: A\ntools: [read_file, write_file]'));
  const approve = () =>
    disk.save(`${ROOT}/tasks/approvals.task.md`, saved(disk, 'tasks/approvals.task.md').replace('- [_]', '- [x]'));
  approve();
  await untilQuiet(proc);
  proc.die();
  approve();
  const next = world.start(disk);
  await untilQuiet(next);
  assert.equal((await next.ports.tasks.read('top'))?.task.result, 'Done.');
  const { messages } = world.calls.at(-1)!;
  const told = messages.filter((message) => message.kind === 'tools_changed');
  assert.deepEqual(
    told.map(({ content }) => content),
    ['You can now also call: read_file.'],
  );
  assert.ok(messages.some(({ role, content }) => role === 'tool' && content.includes('The old plan')));
  assert.equal(new Set(world.calls.map(({ system }) => system)).size, 1);
  assert.deepEqual(
    world.calls.map(({ tools }) => tools.map(({ name }) => name).join(' ')),
    ['write_file', 'write_file read_file', 'write_file read_file', 'write_file read_file'],
  );
});

test('pins alone give no right: a tool that the file lacks is refused', async () => {
  const { disk, world, proc } = begin({
    agents: {
      ana: agent('description: A\ntools: [ask_human, read_file]'),
      ben: agent('description: B\ntools: [ask_human, write_file]'),
    },
    tasks: { one: { description: 'Go', to: 'ana' }, two: { description: 'Go', to: 'ben' } },
    script: `- {turn: 1, call: [{ask_human: {question: "Go on?"}}]}
- {turn: 2, call: [{write_file: {path: "workspaces/{{agent}}/a.txt", content: a}}]}
- {say: Done.}
`,
  });
  await untilQuiet(proc);
  const tools = /(?<=tools: ')[0-9a-f]{64}/;
  const session = 'sessions/ana-one.session.yaml';
  const widened = tools.exec(saved(disk, 'sessions/ben-two.session.yaml'))![0];
  disk.save(`${ROOT}/${session}`, saved(disk, session).replace(tools, widened));
  disk.save(
    `${ROOT}/tasks/approvals.task.md`,
    saved(disk, 'tasks/approvals.task.md').replaceAll('- [_]', '- [x]').replaceAll('answer:', 'answer: yes'),
  );
  await untilQuiet(proc);
  assert.equal(disk.read(`${ROOT}/workspaces/ana/a.txt`).kind, 'missing');
  const { messages } = world.calls.filter(({ agent: name }) => name === 'ana').at(-1)!;
  assert.ok(messages.some(({ content }) => content === 'You can no longer call write_file.'));
});

test('a new day is announced in a message', async () => {
  const { disk, world, proc } = begin({
    agents: { ana: agent('description: A\ntools: [write_file]') },
    tasks: { top: { description: 'Go', to: 'ana' } },
    script: '- {turn: 1, call: [{write_file: {path: a.txt, content: a}}]}\n- {say: Done.}\n',
    asks: ['write_file'],
  });
  await untilQuiet(proc);
  await proc.ports.clock.sleep(24 * 3_600_000);
  disk.save(`${ROOT}/tasks/approvals.task.md`, saved(disk, 'tasks/approvals.task.md').replace('- [_]', '- [x]'));
  await untilQuiet(proc);
  const { messages, system } = world.calls.at(-1)!;
  assert.match(system, /Today is Thursday, 1 January 2026/);
  assert.equal(messages.find((message) => message.kind === 'new_day')?.content, 'It is now Friday, 2 January 2026.');
});

test('a task in another role gets its tools in a shared conversation, by a message with new pins', async () => {
  const { calls, disk } = await played({
    agents: {
      ana: agent('description: A\ntools: [read_file]\nsession: shared\nexpertise: [sql]'),
      ben: agent('description: B\ntools: [request_dependency]'),
    },
    tasks: { one: { description: 'First', to: 'ana' }, two: { description: 'Second', to: 'ben' } },
    script: `- {agent: ana, when: First, say: One.}
- {agent: ben, turn: 1, call: [{request_dependency: {type: expertise, need: help, expertise: [sql]}}]}
- {agent: ana, call: [{provide_dependency: {status: resolved, data: Here.}}]}
- {agent: ben, say: Done.}
`,
  });
  const last = calls.filter((call) => call.agent === 'ana').at(-1)!;
  assert.deepEqual(
    last.tools.map(({ name }) => name),
    ['read_file', 'provide_dependency'],
  );
  const change = last.messages.find((message) => message.kind === 'tools_changed')!;
  assert.match(change.content, /you also have: provide_dependency/);
  assert.ok(disk.read(`${ROOT}/storage/blobs/${change.pins!.tools}`).kind === 'file');
});

test('bookkeeping of the program is not in a prompt', async () => {
  const context = {
    taint: ['slack/sarah'],
    received: { file: 'inbox/x.jsonl', line: 1 },
    approval_required: false,
    due: 'May',
  };
  const { calls } = await played({
    agents: { ana: agent('description: A') },
    tasks: { top: { description: 'Go', to: 'ana', context } },
    script: '- {say: Done.}\n',
  });
  assert.equal(first(calls[0]!), 'Go\n\nDetails:\n- due: May');
});
