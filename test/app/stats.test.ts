/** Statistics of the store for a program that uses the library. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { memory, world } from '../kit/memory/store.js';
import { scripted } from '../../src/adapters/models/scripted/index.js';
import { openWorkspace } from '../../src/app/index.js';
import { simClock } from '../kit/sim-clock.js';
import { countedIds } from '../kit/sim-processes.js';

test('a workspace tells how long files had to wait for their places', async (t) => {
  const root = tempFolder('stats', t);
  fs.mkdirSync(path.join(root, 'agents'));
  fs.writeFileSync(path.join(root, 'guild.yaml'), 'model: s/m\nproviders: {s: {kind: scripted}}\ngit: false\n');
  fs.writeFileSync(path.join(root, 'agents', 'quick.md'), '---\ndescription: Answers\n---\nAnswer.\n');
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
