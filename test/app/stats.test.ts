/** Files and statistics of the store for a program that uses the library. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { memory, world } from '../kit/memory/store.js';
import { scripted } from '../../src/adapters/models/scripted/index.js';
import { openWorkspace } from '../../src/app/index.js';
import { simClock } from '../kit/sim-clock.js';
import { countedIds } from '../kit/sim-processes.js';

function quick(t: TestContext): string {
  const root = tempFolder('stats', t);
  fs.mkdirSync(path.join(root, 'agents'));
  fs.writeFileSync(path.join(root, 'guild.yaml'), 'model: s/m\nproviders: {s: {kind: scripted}}\ngit: false\n');
  fs.writeFileSync(path.join(root, 'agents', 'quick.md'), '---\ndescription: Answers\n---\nAnswer.\n');
  return root;
}

test('when run() resolves, its record, page and conversation can be read under their names', async (t) => {
  const root = quick(t);
  const workspace = await openWorkspace(root, { history: false, model: scripted('- {agent: "*", say: Done.}') });
  const { task } = await workspace.run('quick', 'Go');
  const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8');
  assert.match(read(`tasks/completed/${task.id}.json`), /"result": "Done\."/);
  assert.match(read(`results/${task.id}.md`), /Done\./);
  assert.match(read(`sessions/${task.session}.session.yaml`), /Done\./);
  await workspace.close();
});

test('run() without a key for the model throws and adds no task; one whose model is passed in needs none', async (t) => {
  const root = quick(t);
  fs.writeFileSync(path.join(root, 'guild.yaml'), 'model: openai/gpt-6.1-sol\ngit: false\n');
  const env = { GUILD_STATE: tempFolder('state', t) };
  const workspace = await openWorkspace(root, { history: false, env });
  await assert.rejects(workspace.run('quick', 'Go'), /OPENAI_API_KEY is not set/);
  assert.deepEqual(await workspace.openTasks(), []);
  await workspace.close();
  const given = await openWorkspace(root, { history: false, env, model: scripted('- {agent: "*", say: Done.}') });
  assert.equal((await given.run('quick', 'Go')).state, 'completed');
  await given.close();
});

test('a workspace reports how long files waited for their places', async (t) => {
  const root = quick(t);
  const workspace = await openWorkspace(root, { history: false, model: scripted('- {agent: "*", say: Done.}') });
  assert.deepEqual(workspace.stats(), { worstLagMs: 0 });
  await workspace.run('quick', 'Go');
  const { worstLagMs } = workspace.stats();
  assert.ok(worstLagMs > 0, `${worstLagMs} ms`);
  await workspace.run('quick', 'Go again');
  assert.ok(workspace.stats().worstLagMs >= worstLagMs);
  await workspace.close();
});

test('a store in memory places nothing, so nothing is late', async () => {
  const store = memory(world(), { clock: simClock(), ids: countedIds() });
  assert.deepEqual(store.stats(), { worstLagMs: 0 });
  await store.close();
});
