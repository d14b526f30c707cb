/** A person deletes folders while the agents work: later work is still done. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { openWorkspace, type Model } from '../../src/app/index.js';
import { until } from '../kit/until.js';
import { trust } from '../kit/trust/state.js';

const FOLDERS = [
  '.guild',
  '.guild/journal',
  '.guild/tmp',
  '.guild/turns',
  '.guild/intents',
  '.guild/run',
  'agents/live',
  'bus',
  'events',
  'results',
  'sessions',
  'storage',
  'tasks',
  'tasks/active',
  'tasks/completed',
  'tasks/pending',
  'tasks/waiting',
];

/** A watched workspace; `run` adds a task and resolves with its result. */
async function watched(
  t: TestContext,
  whileThinking: (task: string) => void = () => undefined,
): Promise<{ root: string; run(id: string): Promise<void>; drop(id: string): void; leave(): Promise<void> }> {
  const root = tempFolder('clean', t);
  fs.mkdirSync(path.join(root, 'agents'));
  fs.writeFileSync(path.join(root, 'guild.yaml'), 'model: scripted/m\n');
  fs.writeFileSync(path.join(root, 'agents/ana.md'), '---\ndescription: Works\n---\nWork.\n');
  const model: Model = {
    async call({ task }) {
      whileThinking(task);
      const cost = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, microUsd: 0 };
      return { ok: true, answer: { text: `answer of ${task}`, toolCalls: [], finish: 'stop', ...cost } };
    },
  };
  const done = new Set<string>();
  const stop = new AbortController();
  trust(root);
  const workspace = await openWorkspace(root, {
    model,
    watchers: { event: ({ name, task }) => void (name === 'task.completed' && done.add(task!)) },
  });
  let thrown: unknown;
  const watching = workspace.watch(stop.signal).catch((error: unknown) => (thrown = error));
  const drop = (id: string): void => {
    fs.mkdirSync(path.join(root, 'tasks/pending'), { recursive: true });
    const temporary = path.join(root, `${id}.tmp`);
    fs.writeFileSync(temporary, JSON.stringify({ description: 'Work', to: 'ana' }));
    fs.renameSync(temporary, path.join(root, 'tasks/pending', `${id}.json`));
  };
  return {
    root,
    drop,
    async run(id) {
      drop(id);
      await until(() => {
        if (thrown !== undefined) throw thrown;
        return done.has(id);
      });
    },
    async leave() {
      stop.abort();
      await watching;
      await workspace.close();
      assert.equal(thrown, undefined);
    },
  };
}

const clean = (root: string, folder: string): void =>
  fs.rmSync(path.join(root, folder), { recursive: true, force: true, maxRetries: 9 });

test('a folder that is deleted while idle is recreated when it is needed', async (t) => {
  const { root, run, leave } = await watched(t);
  const board = path.join(root, 'tasks/b.task.md');
  await run('first');
  for (const [n, folder] of FOLDERS.entries()) {
    clean(root, folder);
    await run(`then-${n}`);
    const result = fs.readFileSync(path.join(root, `results/then-${n}.md`), 'utf8');
    assert.match(result, new RegExp(`answer of then-${n}`), folder);
    clean(root, folder);
    fs.mkdirSync(path.dirname(board), { recursive: true });
    fs.writeFileSync(board, `# Board\n\n## TODO\n\n- [ ] @ana "Thing ${n}"\n`);
    await until(() => fs.readFileSync(board, 'utf8').includes(`[x] @ana "Thing ${n}"`));
  }
  await leave();
  assert.deepEqual(fs.readdirSync(path.join(root, 'agents/live')), []);
});

test('deleting a folder during a model call affects at most that task', async (t) => {
  let root = '';
  const met = new Set<string>();
  const place = await watched(t, (task) => {
    const folder = FOLDERS[Number(task.slice('during-'.length))];
    if (folder === undefined || met.has(folder)) return;
    met.add(folder);
    clean(root, folder);
  });
  ({ root } = place);
  await place.run('first');
  for (const [n, folder] of FOLDERS.entries()) {
    place.drop(`during-${n}`);
    await until(() => met.has(folder));
    await place.run(`then-${n}`);
  }
  await place.leave();
});

test('a deleted workspace is not recreated', async (t) => {
  const { root, run, leave } = await watched(t);
  await run('first');
  fs.rmSync(root, { recursive: true, force: true, maxRetries: 9 });
  await leave().catch(() => undefined);
  assert.equal(fs.existsSync(root), false);
});
