/** The workspaces we ship are in order and do what their READMEs say: the one `guild init` copies, and each example. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clock } from '../../src/adapters/clock.js';
import { openWorkspace, problemText } from '../../src/app/index.js';
import { parseConfig } from '../../src/text/config-yaml.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
/** No keys, and a script that waits for nobody. */
const OFFLINE = { env: {}, clock: { ...clock(), sleep: () => Promise.resolve() } };
const examples = fs.readdirSync(path.join(ROOT, 'examples')).map((name) => `examples/${name}`);

for (const given of ['starter', ...examples]) {
  test(`${given} has nothing to complain about`, async (t) => {
    const workspace = await open(t, given);
    const { problems, warnings, files } = workspace.check();
    const all = [...workspace.configProblems, ...workspace.configWarnings, ...problems, ...warnings];
    assert.deepEqual(all.map(problemText), []);
    assert.ok(files > 0, 'it has agents');
  });
}

test('the agents of a new workspace are the five that its README speaks of', async (t) => {
  const workspace = await open(t, 'starter');
  assert.deepEqual([...workspace.agents().keys()].sort(), [
    'evaluator',
    'executor',
    'orchestrator',
    'planner',
    'retriever',
  ]);
  assert.equal(workspace.agents().get('planner')?.settings.temperature, 0.3);
  assert.equal(workspace.config.defaultAgent, 'orchestrator');
});

test('what guild.yaml shows in comments is understood when the marks are taken away', () => {
  const lines = fs.readFileSync(path.join(ROOT, 'starter', 'guild.yaml'), 'utf8').split('\n');
  const shown = lines.map((line) => (/^# {1,3}[a-z_/]+:/.test(line) ? line.slice(2) : line)).join('\n');
  const { config, problems, warnings } = parseConfig(shown, 'guild.yaml');
  assert.deepEqual([...problems, ...warnings].map(problemText), []);
  assert.equal(config.model, 'main');
  assert.deepEqual(Object.keys(config.providers), ['house', 'pretend']);
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

test('the first day, opened anew for every pass, ends the same', async (t) => {
  const first = await open(t, 'examples/first-day');
  for (let pass = 0; pass < 50; pass++) {
    const workspace = await openWorkspace(first.root, OFFLINE);
    const { moved } = await workspace.pump();
    await workspace.close();
    if (!moved) break;
  }
  const page = fs.readFileSync(path.join(first.root, 'results', 'is-redis-running.md'), 'utf8');
  assert.match(page, /^# Is Redis running/);
});

async function open(t: TestContext, given: string) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-example-'));
  fs.cpSync(path.join(ROOT, given), root, { recursive: true });
  const workspace = await openWorkspace(root, OFFLINE);
  t.after(async () => {
    await workspace.close();
    fs.rmSync(root, { recursive: true, force: true });
  });
  return workspace;
}
