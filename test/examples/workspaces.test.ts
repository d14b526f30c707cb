/** The shipped workspaces (starters and examples) are valid and do what their READMEs say. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test as always, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeFolder, tempFolder } from '../kit/temp/folder.js';
import { clock } from '../../src/adapters/clock/index.js';
import { openWorkspace, problemText } from '../../src/app/index.js';
import { parseConfig } from '../../src/text/config/config.js';
import { sampleTests } from '../kit/sample.js';
import { trust } from '../kit/trust/state.js';

const test = sampleTests('examples/workspaces', 4);

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
/** Without keys, and with a script that answers immediately but lets other tasks run. */
const OFFLINE = { env: {}, clock: { ...clock(), sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) } };
const examples = fs
  .readdirSync(path.join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => `examples/${entry.name}`);

for (const name of ['starter', 'starter-swarm', ...examples]) {
  always(`${name} has neither problems nor warnings`, async (t) => {
    const workspace = await open(t, name);
    const { problems, warnings, files } = workspace.check();
    const all = [...workspace.configProblems, ...problems, ...warnings];
    assert.deepEqual(all.map(problemText), []);
    assert.ok(files > 0, 'it has agents');
  });
}

test('the agents of a new workspace are an office; those of a swarm are specialists with thresholds', async (t) => {
  const workspace = await open(t, 'starter');
  assert.deepEqual([...workspace.agents().keys()].sort(), [
    'code_reviewer',
    'evaluator',
    'executor',
    'orchestrator',
    'planner',
    'researcher',
    'retriever',
    'tester',
  ]);
  assert.equal(workspace.config.defaultAgent, 'orchestrator');
  const swarm = await open(t, 'starter-swarm');
  assert.deepEqual(
    ['breakdown', 'file', 'search', 'terminal'].map((name) => swarm.agents().get(name)?.threshold),
    [8, 6, 6, 6],
  );
  assert.equal(swarm.config.defaultAgent, undefined);
  for (const { name, settings } of [...workspace.agents().values(), ...swarm.agents().values()])
    for (const setting of ['temperature', 'topP', 'topK'] as const)
      assert.equal(settings[setting], undefined, `${name} leaves ${setting} to the model`);
});

test('the commented examples in guild.yaml are valid when uncommented', () => {
  const lines = fs.readFileSync(path.join(ROOT, 'starter', 'guild.yaml'), 'utf8').split('\n');
  const shown = lines.map((line) => (/^# {1,3}[a-z_/]+:/.test(line) ? line.slice(2) : line)).join('\n');
  const { config, problems } = parseConfig(shown, 'guild.yaml');
  assert.deepEqual(problems.map(problemText), []);
  assert.equal(config.model, 'main');
  assert.deepEqual(Object.keys(config.providers), ['local', 'offline']);
  assert.equal(config.budget.turns, 50);
});

test('the first day: Sarah gets her answer, by way of the retriever and the evaluator', async (t) => {
  const workspace = await open(t, 'examples/first-day');
  await workspace.pumpUntilQuiet();
  const tree = await workspace.tree('is-redis-running');
  assert.deepEqual(
    tree.map(({ task, state }) => [task.to, state]),
    [
      ['planner', 'completed'],
      ['retriever', 'completed'],
      ['evaluator', 'completed'],
    ],
  );
  const page = fs.readFileSync(path.join(workspace.root, 'results', 'is-redis-running.md'), 'utf8');
  assert.match(page, /No: as of 08:00 the Redis container is not among the running ones/);
  assert.equal(fs.readdirSync(path.join(workspace.root, 'sessions')).length, 3);
});

test('the first day, reopened for every pass, ends the same', async (t) => {
  const first = await open(t, 'examples/first-day');
  for (let pass = 0; pass < 50; pass++) {
    trust(first.root);
    const workspace = await openWorkspace(first.root, OFFLINE);
    const { moved } = await workspace.pump();
    await workspace.close();
    if (!moved) break;
  }
  const page = fs.readFileSync(path.join(first.root, 'results', 'is-redis-running.md'), 'utf8');
  assert.match(page, /^# Is Redis running/);
});

/**
 * Each pattern's example: the README's command, its roles and agents, and how the answer starts.
 */
const PATTERNS: [example: string, agent: string, request: string, parts: string[], answer: RegExp][] = [
  ['handoff', 'writer', 'Announce version 2.0', ['work writer', 'handoff editor', 'handoff approver'], /^Approved\./],
  ['router', 'desk', 'I was billed twice', ['work desk', 'route billing'], /^We are sorry\./],
  ['router', 'desk', 'I cannot log in', ['work desk', 'route support'], /forgot my password/],
  ['router', 'desk', 'Hm', ['work desk', 'route support'], /what you were trying to do/],
  [
    'advisors',
    'manager',
    'Should we move the archive to a new provider?',
    ['advisor legal', 'advisor security', 'advisor finance', 'work manager'],
    /^Yes, we move .* Finance gave no advice/,
  ],
  [
    'team',
    'architect',
    'Polling or a stream of events for the status page?',
    ['member backend', 'member frontend', 'member skeptic', 'work architect'],
    /^The page gets a stream of events/,
  ],
  [
    'checked',
    'writer',
    'Tell Ms Brown how to get her money back for the lamp',
    ['work writer', 'check writer'],
    /Send your order number to refunds@shop\.example/,
  ],
  [
    'delegation',
    'orchestrator',
    'Add a cache to our database queries',
    ['call planner', 'call researcher', 'call code_reviewer', 'call tester'],
    /^The plan is in workspaces\/orchestrator\/plan\.md/,
  ],
];
for (const [example, agent, request, parts, answer] of PATTERNS) {
  test(`the example ${example} answers "${request}" and shows the cost of each agent`, async (t) => {
    const readme = fs.readFileSync(path.join(ROOT, 'examples', example, 'README.md'), 'utf8');
    assert.ok(readme.includes(`guild run ${agent} "${request}" --id`), 'the README has people run it');
    assert.ok(readme.split('\n').length <= 45, 'on one screen');
    const workspace = await open(t, `examples/${example}`);
    const { id } = await workspace.add({ description: request, to: agent });
    const { task, state } = await workspace.finish(id);
    assert.equal(state, 'completed', task.error?.message);
    assert.match(task.result!, answer);
    const tree = await workspace.tree(id);
    for (const part of parts)
      assert.ok(
        tree.some((placed) => `${placed.task.role} ${placed.task.to}` === part),
        part,
      );
    assert.ok(task.usage!.microUsd > 0, 'it has a price');
    const own = tree.reduce((sum, placed) => sum + (placed.task.own_usage?.microUsd ?? 0), 0);
    assert.equal(own, task.usage!.microUsd, 'and what each of them cost adds up to it');
  });
}

test('the checked example is sent back once with a reason, and each check shows its cost under its role', async (t) => {
  const workspace = await open(t, 'examples/checked');
  const { task } = await workspace.run('writer', 'Tell Ms Brown how to get her money back for the lamp');
  const [, ...parts] = await workspace.tree(task.id);
  assert.deepEqual(parts.map((placed) => placed.task.id.replace(`${task.id}.`, '')).sort(), [
    'check-1',
    'check-2',
    'work',
    'work-2',
  ]);
  const cost = (role: string): number[] =>
    parts.filter((placed) => placed.task.role === role).map((placed) => placed.task.usage!.microUsd);
  assert.ok(cost('check').every((each) => each > 0) && Math.max(...cost('check')) < Math.min(...cost('work')));
});

test('the example of delegation has its five agents, and the planner only looks', async (t) => {
  const agents = (await open(t, 'examples/delegation')).agents();
  assert.deepEqual([...agents.keys()].sort(), ['code_reviewer', 'orchestrator', 'planner', 'researcher', 'tester']);
  assert.equal(agents.get('planner')!.settings.temperature, 0.3);
  assert.deepEqual(agents.get('planner')!.tools, ['read_file', 'list_directory', 'search_files']);
});

test('the orchestrator does nothing until the human approves its plan', async (t) => {
  const workspace = await open(t, 'examples/delegation', (root) => {
    const file = path.join(root, 'agents/orchestrator.md');
    const text = fs.readFileSync(file, 'utf8');
    assert.ok(text.includes('# plan_approval: true'), 'its file shows how');
    fs.writeFileSync(file, text.replace('# plan_approval', 'plan_approval'));
    const script = path.join(root, 'script.yaml');
    const lines = fs.readFileSync(script, 'utf8');
    const first = '- { agent: orchestrator, when: show your plan, say: "First the planner, then three at once." }\n';
    const later = lines.replace(
      /(agent: orchestrator\n {2}turn: )(\d)/g,
      (_, head, turn) => `${head}${Number(turn) + 1}`,
    );
    fs.writeFileSync(script, first + later);
  });
  const { id } = await workspace.add({ description: 'Add a cache', to: 'orchestrator' });
  await workspace.pumpUntilQuiet();
  const waiting = await workspace.tree(id);
  assert.deepEqual(
    waiting.map((placed) => [placed.task.id, placed.task.role, placed.state]),
    [
      [id, 'root', 'waiting'],
      [`${id}.plan-1`, 'approval', 'pending'],
    ],
  );
  const ballot = path.join(workspace.root, 'tasks/approvals.task.md');
  const text = fs.readFileSync(ballot, 'utf8');
  assert.match(text, /First the planner, then three at once\./);
  fs.writeFileSync(ballot, text.replace('- [_]', '- [x]'));
  await workspace.pumpUntilQuiet();
  assert.equal((await workspace.tree(id))[0]!.state, 'completed');
});

async function open(t: TestContext, name: string, change: (root: string) => void = () => undefined) {
  const root = tempFolder('example');
  fs.cpSync(path.join(ROOT, name), root, { recursive: true });
  change(root);
  trust(root);
  const workspace = await openWorkspace(root, OFFLINE);
  t.after(async () => {
    await workspace.close();
    await removeFolder(root);
  });
  return workspace;
}
