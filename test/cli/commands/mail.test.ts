/** `guild mail`: a message goes in by hand, is listed, taken by a pump, and listed as taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place } from '../../kit/guild.js';

const FILES = {
  'guild.yaml': 'model: demo/x\nproviders: {demo: {kind: scripted}}\ngit: false\n',
  'script.yaml': '- {agent: planner, say: Noted.}\n',
  'agents/planner.md': '---\ndescription: d\n---\nx\n',
};

test('a message that is added is listed as new, and after a pump as taken', async (t) => {
  const workspace = place(t, FILES);
  const added = await workspace.guild('mail', 'add', 'Is', 'Redis up?', '--from', 'sarah', '--channel', 'slack #ops');
  assert.deepEqual([added.code, added.out], [0, 'inbox/slack-messages.jsonl\n']);
  assert.match((await workspace.guild('mail', 'list')).out, /^new +slack #ops +sarah +Is Redis up\?\n$/);
  assert.equal((await workspace.guild('pump')).code, 0);
  const { out } = await workspace.guild('mail', 'list', '--json');
  const [line, ...more] = out.trim().split('\n');
  const listed = JSON.parse(line!) as { taken: boolean; task: string; text: string };
  assert.deepEqual([more.length, listed.taken, listed.text], [0, true, 'Is Redis up?']);
  assert.deepEqual(workspace.list('tasks/completed'), [`${listed.task}.json`]);
});

test('an invalid message or source is refused with the right exit code, and nothing is written', async (t) => {
  const workspace = place(t, FILES);
  for (const args of [['add'], ['add', ' '], ['add', 'x', '--channel', '../etc'], ['throw']]) {
    const ran = await workspace.guild('mail', ...args);
    assert.equal(ran.code, 2, args.join(' '));
  }
  assert.deepEqual(workspace.list('inbox'), []);
});

test('a listed message cannot drive the terminal', async (t) => {
  const workspace = place(t, FILES);
  await workspace.guild('mail', 'add', 'a\u001b[2J\u202eb\nc', '--from', 'x\u001b[31m');
  const { out } = await workspace.guild('mail', 'list');
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(out, /[\u001b\u202e]/);
  assert.equal(out.trim().split('\n').length, 1);
});
