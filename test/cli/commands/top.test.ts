/** `guild top` stays on the screen: without colours, and while people edit agents. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { onTerminal, place, scripted } from '../../kit/guild.js';

test('top keeps updating without colours, and while an editor replaces an agent file', async (t) => {
  const { root, startWith } = place(t, scripted('- say: ok'));
  const top = startWith(onTerminal(80, { env: { NO_COLOR: '1' } }), 'top');
  await top.says(/q quits/);
  const boss = path.join(root, 'agents/boss.md');
  for (let i = 0; i < 20; i++) execFileSync('sed', ['-i', `s/You are the boss.*/You are the boss ${i}./`, boss]);
  execFileSync('touch', [path.join(root, 'agents/LICENSE')]);
  execFileSync('cp', [boss, path.join(root, 'agents/newcomer.md')]);
  await top.says(/newcomer/);
  top.interrupt();
  const { code, out, err } = await top.ended;
  assert.equal(code, 0, err);
  assert.equal(err, '');
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(out, /\u001b\[[0-9;]*m/, 'no colours');
});
