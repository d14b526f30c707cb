/** A person deletes folders while the agents work: later work is still done. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { test as nodeTest, TestContext } from 'node:test';
import { openWorkspace, type Model } from '../../src/app/index.js';
import { until } from '../kit/until.js';
import type { TakeSeat } from './seats.js';

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

const FILES = {
  'guild.yaml': 'model: scripted/m\n',
  'agents/ana.md': '---\ndescription: Works\n---\nWork.\n',
};

/** A watched workspace; `run` adds a task and resolves with its result. */
async function watched(
  t: TestContext,
  take: TakeSeat,
  whileThinking: (task: string) => void = () => undefined,
): Promise<{
  root: string;
  run(id: string): Promise<void>;
  drop(id: string): void;
  wait(look: () => boolean): Promise<unknown>;
  shows(what: () => boolean): Promise<unknown>;
  leave(): Promise<void>;
}> {
  const { desk, work, shows, leave } = await take(t, FILES);
  const { root } = desk;
  const model: Model = {
    async call({ task }) {
      whileThinking(task);
      const cost = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, microUsd: 0 };
      return { ok: true, answer: { text: `answer of ${task}`, toolCalls: [], finish: 'stop', ...cost } };
    },
  };
  const done = new Set<string>();
  const stop = new AbortController();
  const workspace = await openWorkspace(work.root, {
    model,
    watchers: { event: ({ name, task }) => void (name === 'task.completed' && done.add(task!)) },
  });
  let thrown: unknown;
  const watching = workspace.watch(stop.signal).catch((error: unknown) => (thrown = error));
  const wait = (look: () => boolean): Promise<unknown> =>
    until(() => {
      if (thrown !== undefined) throw thrown;
      return look();
    });
  const drop = (id: string): void => {
    fs.mkdirSync(path.join(root, 'tasks/pending'), { recursive: true });
    const temporary = path.join(root, `${id}.tmp`);
    fs.writeFileSync(temporary, JSON.stringify({ description: 'Work', to: 'ana' }));
    fs.renameSync(temporary, path.join(root, 'tasks/pending', `${id}.json`));
  };
  return {
    root,
    drop,
    wait,
    shows,
    async run(id) {
      drop(id);
      await wait(() => done.has(id));
    },
    async leave() {
      stop.abort();
      await watching;
      await workspace.close();
      await leave();
      assert.equal(thrown, undefined);
    },
  };
}

const clean = (root: string, folder: string): void =>
  fs.rmSync(path.join(root, folder), { recursive: true, force: true, maxRetries: 9 });

export function cleanUp(test: typeof nodeTest, take: TakeSeat): void {
  test('a folder that is deleted while idle is recreated when it is needed', async (t) => {
    const { root, run, wait, shows, leave } = await watched(t, take);
    const board = path.join(root, 'tasks/b.task.md');
    await run('first');
    for (const [n, folder] of FOLDERS.entries()) {
      clean(root, folder);
      await run(`then-${n}`);
      const page = path.join(root, `results/then-${n}.md`);
      await shows(() => fs.existsSync(page));
      const result = fs.readFileSync(page, 'utf8');
      assert.match(result, new RegExp(`answer of then-${n}`), folder);
      clean(root, folder);
      fs.mkdirSync(path.dirname(board), { recursive: true });
      fs.writeFileSync(board, `# Board\n\n## TODO\n\n- [ ] @ana "Thing ${n}"\n`);
      await wait(() => fs.readFileSync(board, 'utf8').includes(`[x] @ana "Thing ${n}"`));
    }
    await leave();
    const live = path.join(root, 'agents/live');
    assert.deepEqual(fs.existsSync(live) ? fs.readdirSync(live) : [], []);
  });

  test('deleting a folder during a model call affects at most that task', async (t) => {
    let root = '';
    const met = new Set<string>();
    const place = await watched(t, take, (task) => {
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
    const { root, run, leave } = await watched(t, take);
    await run('first');
    fs.rmSync(root, { recursive: true, force: true, maxRetries: 9 });
    await leave().catch(() => undefined);
    assert.equal(fs.existsSync(root), false);
  });
}
