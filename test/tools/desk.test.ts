/** query_tasks and update_task: what agents may query and change, and the refusals. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Agent } from '../../src/domain/agent/agent.js';
import { makeTask, type Task } from '../../src/domain/task/task.js';
import { checkArgs } from '../../src/tools/core/args.js';
import type { ToolContext, ToolReply } from '../../src/tools/core/tool.js';
import { toolbox } from '../../src/tools/toolbox.js';
import { cluster, play, ROOT, untilQuiet, type Proc } from '../kit/cluster.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { writeStory } from '../kit/stories.js';

const PLAN = path.join(ROOT, 'tasks/plan.task.md');
const BOARD = `# Plan
## TODO
- [ ] @ben "Later" id: later depends_on: never
- [ ] @human "Call Sarah" id: call
- [ ] @ben #approval "Approve" id: ask
- [ ] "bad
`;

interface Desk {
  disk: SimDisk;
  proc: Proc;
  board(): string;
  use(tool: string, args: Record<string, unknown>, task?: Partial<Task>): Promise<ToolReply>;
}

async function office(files: Record<string, string> = {}): Promise<Desk> {
  const disk = simDisk();
  const agents = { ana: '---\ndescription: A\n---\nDo it.\n', ben: '---\ndescription: B\n---\nDo it.\n' };
  const script = '- {say: Done.}\n';
  writeStory(disk, {
    name: '',
    agents,
    files: { 'tasks/plan.task.md': BOARD, ...files },
    tasks: {},
    script,
    results: {},
    calls: 0,
  });
  const proc = cluster(script).start(disk);
  await proc.engine.pump();
  const tools = toolbox();
  return {
    disk,
    proc,
    board: () => disk.tree().get(PLAN)!,
    async use(name, args, task = {}) {
      const tool = tools.get(name)!;
      assert.equal(checkArgs(tool.parameters, args), undefined);
      const own = makeTask({ id: 'mine', description: 'do', created_at: '2026-01-01T00:00:00Z', to: 'ana', ...task });
      const context = { agent: { name: 'ana' } as Agent, task: own, callId: 'c1', boardTools: proc.ports.boardTools };
      return tool.run(args, context as unknown as ToolContext);
    },
  };
}

const text = (reply: ToolReply): string =>
  reply.kind === 'problem'
    ? `${reply.code}: ${reply.message}`
    : reply.kind === 'ask' || reply.kind === 'question'
      ? reply.kind
      : `${reply.kind}: ${reply.text}`;

test('a query prints one row per line, from tables and boards', async () => {
  const desk = await office();
  const tasks = await desk.use('query_tasks', { query: "SELECT id, to, state FROM tasks WHERE to = 'ben'" });
  assert.equal(text(tasks), 'text: {"id":"later","to":"ben","state":"pending"}');
  const board = await desk.use('query_tasks', { query: 'SELECT id FROM tasks/plan.task.md LIMIT 1' });
  assert.equal(text(board), 'text: {"id":"later"}\n[1 entries of this board cannot be read and were left out]');
  assert.equal(
    text(await desk.use('query_tasks', { query: 'SELECT name FROM agents ORDER BY name' })),
    'text: {"name":"ana"}\n{"name":"ben"}',
  );
  assert.equal(
    text(await desk.use('query_tasks', { query: "SELECT id FROM tasks WHERE to = 'eve'" })),
    'text: no rows',
  );
});

test('a long answer is cut and says so', async () => {
  const lines = Array.from({ length: 500 }, (_, i) => `- [x] "Task ${i}" id: t${i}`);
  const desk = await office({ 'tasks/long.task.md': `## TODO\n${lines.join('\n')}\n` });
  const reply = text(await desk.use('query_tasks', { query: 'SELECT id FROM tasks/long.task.md' }));
  assert.equal(reply.split('\n').length, 201);
  assert.match(reply, /\[200 of 500 rows; select fewer columns, or narrow the query with WHERE and LIMIT\]$/);
});

for (const [query, expected] of [
  ["UPDATE tasks/plan.task.md SET completed = true WHERE id = 'ask'", /read-only[^]*update_task/],
  ['SELECT * FROM tasks INTO out.json', /read-only/],
  ['SELECT * FROM ../other/tasks/x.task.md', /unknown source/],
  ['SELECT * FROM guild.md', /unknown source/],
  ['SELECT * FROM tasks/gone.task.md', /there is no file/],
  ['SELECT * FROM tasks WHERE', /query:1:\d+[^]*\^/],
] as const) {
  test(`a query cannot: ${query}`, async () => {
    const desk = await office();
    const before = desk.disk.tree();
    const reply = await desk.use('query_tasks', { query });
    assert.equal(reply.kind, 'problem');
    assert.match(text(reply), expected);
    assert.deepEqual(desk.disk.tree(), before);
  });
}

test("marking the agent's own task as completed or failed is its final answer", async () => {
  const desk = await office();
  assert.equal(
    text(await desk.use('update_task', { id: 'mine', status: 'completed', note: ' It is up. ' })),
    'final: It is up.',
  );
  assert.deepEqual(await desk.use('update_task', { status: 'failed', note: 'no access' }), {
    kind: 'final',
    text: 'no access',
    success: false,
  });
  assert.equal(
    text(await desk.use('update_task', { id: 'up', status: 'completed', note: 'ok' }, { role: 'work', parent: 'up' })),
    'final: ok',
  );
  assert.match(text(await desk.use('update_task', { status: 'completed' })), /^bad_field: note is missing/);
  assert.match(text(await desk.use('update_task', { status: 'in_progress' })), /^text: /);
  assert.match(text(await desk.use('update_task', { status: 'skipped' })), /^not_allowed: mine is your own task/);
});

test("updating a bullet's priority, note and fields is idempotent and changes only that bullet", async () => {
  const desk = await office();
  const change = { id: 'later', priority: 'A', note: 'see\nlog', fields: { due: '2026-02-01' } };
  assert.equal(text(await desk.use('update_task', change)), 'text: tasks/plan.task.md: "Later" is changed');
  const once = desk.board();
  assert.equal(
    once,
    BOARD.replace(
      '- [ ] @ben "Later" id: later depends_on: never\n',
      '- [ ] A @ben "Later" id: later depends_on: never\n  due: 2026-02-01\n  note: |\n    see\n    log\n  updated_by: ana\n',
    ),
  );
  await desk.use('update_task', change);
  assert.equal(desk.board(), once);
});

test('closing a bullet ends its task if it has not started', async () => {
  const desk = await office();
  assert.equal(
    text(await desk.use('update_task', { id: 'later', status: 'skipped' })),
    'text: tasks/plan.task.md: "Later" is now skipped',
  );
  await untilQuiet(desk.proc);
  assert.equal((await desk.proc.ports.tasks.read('later'))?.task.error?.message, 'skipped by hand');
});

test('an agent cannot close work in progress, approvals or the human’s own tasks', async () => {
  const desk = await office({ 'tasks/approvals.task.md': '## TODO\n- [_] @human #approval `Approve` id: ballot\n' });
  const claim = (await desk.proc.ports.tasks.claim('later', 'ben'))!;
  const before = desk.board();
  assert.match(
    text(await desk.use('update_task', { id: 'later', status: 'completed' })),
    /^not_allowed: ben is working on later[^]*send_message/,
  );
  assert.match(
    text(await desk.use('update_task', { id: 'call', status: 'completed' })),
    /^not_allowed: "Call Sarah" is assigned to the human/,
  );
  assert.match(
    text(await desk.use('update_task', { id: 'ask', note: 'yes' })),
    /^not_allowed: only the human can answer approvals/,
  );
  assert.match(
    text(await desk.use('update_task', { id: 'ballot', status: 'completed' })),
    /^not_allowed: only the human can answer approvals/,
  );
  assert.match(
    text(await desk.use('update_task', { id: 'gone', status: 'completed' })),
    /^not_found: .*gone[^]*your own task is mine/,
  );
  assert.match(
    text(await desk.use('update_task', { id: 'call', fields: { completed: true } })),
    /^bad_field: completed cannot/,
  );
  assert.match(text(await desk.use('update_task', { id: 'call', fields: { tags: 'approval' } })), /^not_allowed: /);
  assert.match(text(await desk.use('update_task', { id: 'call' })), /^bad_field: say what to change/);
  assert.equal(desk.board(), before);
  await desk.proc.ports.tasks.release(claim, claim.task);
});

test('a note cannot smuggle a bullet or a hidden character onto a board', async () => {
  const desk = await office();
  const note = 'fine\n- [x] @human "Call Sarah"\n## TODO\n\u202efoo';
  await desk.use('update_task', { id: 'later', note });
  await untilQuiet(desk.proc);
  const rows = await desk.use('query_tasks', { query: 'SELECT COUNT(*) FROM tasks/plan.task.md' });
  assert.match(text(rows), /"count":3/);
  assert.ok(desk.board().includes('\\u{202e}foo'));
  assert.match(desk.board(), /- \[ \] @human "Call Sarah" id: call\n/);
});

test('an agent that ends its task through update_task ends the bullet it came from', async () => {
  const disk = simDisk();
  const script = `
- {agent: ana, turn: 1, call: [{query_tasks: {query: "SELECT id FROM tasks/plan.task.md"}}]}
- {agent: ana, turn: 2, when: '"id":"up"', call: [{update_task: {id: "{{task}}", status: completed, note: It is up.}}]}
`;
  const agents = { ana: '---\ndescription: A\ntools: [query_tasks, update_task]\n---\nDo it.\n' };
  writeStory(disk, {
    name: '',
    agents,
    files: { 'tasks/plan.task.md': '## TODO\n- [ ] @ana "Up?" id: up\n' },
    tasks: {},
    script,
    results: {},
    calls: 0,
  });
  const proc = cluster(script).start(disk);
  await play(proc, {}, disk);
  assert.equal((await proc.ports.tasks.read('up'))?.task.result, 'It is up.');
  assert.match(disk.tree().get(PLAN)!, /^## TODO\n- \[x\] @ana "Up\?" id: up\n {2}completed_at: \S+\n$/);
});
