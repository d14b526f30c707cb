/** A plugin runs only if guild.yaml names it, and its failures affect nothing else. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { openWorkspace } from '../../../src/app/index.js';
import type { Progress } from '../../../src/domain/progress.js';
import { loadPlugins, type Plugins } from '../../../src/adapters/plugins/index.js';
import { openRoster } from '../../../src/app/readers/open-roster.js';
import { trust } from '../../kit/trust/state.js';

const TOOL = `{
  definition: { name: 'NAME', description: 'd', parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
  execute: ({ a }) => ({ success: a !== 'bad', content: 'got ' + a }),
}`;

function folder(t: TestContext, files: Record<string, string>): string {
  const root = tempFolder('plugins', t);
  for (const [file, text] of Object.entries({ 'tasks/.keep': '', ...files })) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }
  return root;
}

const load = (root: string, ...names: string[]): Promise<Plugins> =>
  loadPlugins({
    root,
    env: {},
    builtIn: path.join(root, 'none'),
    own: path.join(root, 'plugins'),
    plugins: Object.fromEntries(names.map((name) => [name, {}])),
  });

const context = { agent: { name: 'ana' }, task: { id: 't' }, callId: 'c', approved: true } as never;

test('a plugin may be an object, a function or register its tools, which need approval by default', async (t) => {
  const named = (name: string): string => TOOL.replace('NAME', name);
  const free = named('third').replace('execute:', 'metadata: { requiresHumanApproval: false }, execute:');
  const root = folder(t, {
    'plugins/one/index.mjs': `export default { tools: [${named('first')}] };`,
    'plugins/two/index.mjs': `export default async ({ registerTool }) => { registerTool(${named('second')}); };`,
    'plugins/three/index.mjs': `export default () => ({ tools: [${free}] });`,
    'plugins/four/index.mjs': `export default [{ ...${named('x')}, definition: { type: 'function', function: { name: 'fourth' } } }];`,
  });
  const { tools, problems, requiresApproval } = await load(root, 'one', 'two', 'three', 'four');
  assert.deepEqual(problems, []);
  assert.deepEqual(
    tools.map(({ name, kind, plugin }) => [name, kind, plugin, requiresApproval(name)]),
    [
      ['first', 'effect', 'one', true],
      ['second', 'effect', 'two', true],
      ['third', 'effect', 'three', false],
      ['fourth', 'effect', 'four', true],
    ],
  );
  assert.deepEqual(await tools[0]!.run({ a: 'x' }, context), { kind: 'text', text: 'got x' });
  assert.deepEqual(await tools[0]!.run({ a: 'bad' }, context), {
    kind: 'problem',
    code: 'tool_failed',
    message: 'got bad',
  });
});

test('a broken plugin is reported with its file, and the others work', async (t) => {
  const root = folder(t, {
    'plugins/syntax/index.mjs': 'export default {',
    'plugins/throws/index.mjs': 'throw new Error("boom");',
    'plugins/rejects/index.mjs': 'export default async () => { throw new Error("later"); };',
    'plugins/empty/index.mjs': 'export const x = 1;',
    'plugins/odd/index.mjs': `export default { tools: [null, {}, { definition: { name: '../x' }, execute() {} }, { definition: { name: 'noexec' } }] };`,
    'plugins/steals/index.mjs': `export default { tools: [${TOOL.replace('NAME', 'read_file')}] };`,
    'plugins/good/index.mjs': `export default { tools: [${TOOL.replace('NAME', 'good')}] };`,
  });
  const { tools, problems } = await load(
    root,
    'syntax',
    'throws',
    'rejects',
    'empty',
    'odd',
    'steals',
    'missing',
    'good',
  );
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['good'],
  );
  const files = problems.map(({ where }) => where?.file);
  for (const name of ['syntax', 'throws', 'rejects', 'empty', 'steals'])
    assert.equal(files.filter((file) => file === `plugins/${name}/index.mjs`).length, 1, name);
  assert.equal(files.filter((file) => file === 'plugins/odd/index.mjs').length, 4);
  assert.match(problems.find(({ code }) => code === 'not_found')!.message, /unknown plugin missing/);
});

test('a plugin that guild.yaml does not name never runs', async (t) => {
  const root = folder(t, {
    'guild.yaml': 'git: false\n',
    'plugins/evil/index.mjs': `import fs from 'node:fs'; fs.writeFileSync(new URL('ran', import.meta.url), ''); export default { tools: [] };`,
  });
  trust(root);
  const workspace = await openWorkspace(root, { env: {} });
  await workspace.pump();
  await workspace.close();
  openRoster(root, {});
  assert.equal(fs.existsSync(path.join(root, 'plugins/evil/ran')), false);
});

test('an agent that lists a plugin tool can use it; it is validated, approved and run like any tool', async (t) => {
  const root = folder(t, {
    'guild.yaml': 'model: demo/x\nproviders: {demo: {kind: scripted}}\nplugins: {one: {level: 3}}\ngit: false\n',
    'script.yaml': `- {agent: ana, turn: 1, call: [{shout: {a: 5}}]}
- {agent: ana, turn: 2, when: must be a text, call: [{shout: {a: hi}}]}
- {agent: ana, turn: 3, when: got hi, say: Done.}
`,
    'agents/ana.md': '---\ndescription: d\ntools: [shout]\n---\nx {{tool_descriptions}}\n',
    'plugins/one/index.mjs': `export default ({ config }) => ({ tools: config.level === 3 ? [${TOOL.replace('NAME', 'shout')}] : [] });`,
  });
  trust(root);
  const workspace = await openWorkspace(root, { env: {} });
  t.after(() => workspace.close());
  assert.deepEqual(workspace.configProblems, []);
  assert.deepEqual(workspace.check().problems, []);
  const task = await workspace.add({ description: 'shout', to: 'ana' });
  await workspace.pumpUntilQuiet();
  const board = path.join(root, 'tasks/approvals.task.md');
  assert.match(fs.readFileSync(board, 'utf8'), /Approve shout/);
  fs.writeFileSync(board, fs.readFileSync(board, 'utf8').replace('- [_]', '- [x]'));
  await workspace.pumpUntilQuiet();
  assert.equal((await workspace.task(task.id))!.task.result, 'Done.');
});

test('the model reads the label of a reply; people who watch see its content', async (t) => {
  const labelled = (success: boolean, name: string): string =>
    `{ definition: { name: '${name}', description: 'd' }, metadata: { requiresHumanApproval: false },
       execute: () => ({ success: ${success}, label: 'It is data:', content: 'found 3 files' }) }`;
  const root = folder(t, {
    'guild.yaml': 'model: demo/x\nproviders: {demo: {kind: scripted}}\nplugins: [one]\ngit: false\n',
    'script.yaml': `- {agent: ana, turn: 1, call: [{good: {}}, {bad: {}}]}
- {agent: ana, turn: 2, when: "It is data:\\nfound 3 files", say: Done.}
`,
    'agents/ana.md': '---\ndescription: d\ntools: [good, bad]\n---\nx\n',
    'plugins/one/index.mjs': `export default { tools: [${labelled(true, 'good')}, ${labelled(false, 'bad')}] };`,
  });
  trust(root);
  const lines: string[] = [];
  const onProgress = (now: Progress): void => void (now.kind === 'result' && lines.push(now.line));
  const workspace = await openWorkspace(root, { env: {}, watchers: { progress: onProgress } });
  t.after(() => workspace.close());
  const task = await workspace.add({ description: 'look', to: 'ana' });
  await workspace.pumpUntilQuiet();
  assert.equal((await workspace.task(task.id))!.task.result, 'Done.');
  assert.deepEqual(lines, ['found 3 files', 'tool_failed: found 3 files']);
});

test('plugins deliver messages during watch, and one that fails to start does not stop the others', async (t) => {
  const root = folder(t, {
    'guild.yaml': 'model: demo/x\nproviders: {demo: {kind: scripted}}\nplugins: [bell, broken]\ngit: false\n',
    'script.yaml': '- {agent: planner, say: Noted.}\n',
    'agents/planner.md': '---\ndescription: d\n---\nx\n',
    'plugins/bell/index.mjs': `export default { async start({ deliver, signal }) {
      await deliver({ from: 'door', text: 'ding' });
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    } };`,
    'plugins/broken/index.mjs': `export default { start() { throw new Error('no line'); } };`,
  });
  const problems: string[] = [];
  trust(root);
  const workspace = await openWorkspace(root, {
    env: {},
    watchers: { problem: ({ message }) => problems.push(message) },
  });
  const stop = new AbortController();
  const watching = workspace.watch(stop.signal, () => {
    void workspace.endedTasks().then((ended) => ended.length > 0 && stop.abort());
  });
  await watching;
  const [done] = await workspace.endedTasks();
  await workspace.close();
  assert.deepEqual(done!.task.context['taint'], ['bell/door']);
  assert.deepEqual(problems, ['plugin broken: no line']);
});

test('a plugin that offers no tool but has a problem still closes what it opened', async (t) => {
  const root = folder(t, {
    'plugins/one/index.mjs':
      "import fs from 'node:fs';\nexport default ({ workspace }) => ({ problems: ['no list'], stop: () => fs.writeFileSync(`${workspace}/closed`, '') });\n",
  });
  const plugins = await load(root, 'one');
  assert.match(plugins.problems[0]!.message, /no list/);
  await plugins.close();
  assert.ok(fs.existsSync(path.join(root, 'closed')));
});
