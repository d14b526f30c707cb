/** Completion of commands, options, agents and ids, and workspaces from examples. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../../kit/guild.js';

test('completion knows commands, options, agents and the ids of this workspace', async (t) => {
  const workspace = place(t, scripted('- {agent: hand, say: done}\n'));
  succeeds(await workspace.guild('run', 'hand', 'help', '--id', 'some-task'));
  const words = async (...typed: string[]): Promise<string[]> =>
    succeeds(await workspace.guild('completion', 'words', '--', ...typed))
      .out.trim()
      .split('\n');
  assert.deepEqual(await words('ch'), ['chat', 'check']);
  assert.deepEqual(await words('task', 'ca'), ['cancel']);
  assert.deepEqual(await words('run', 'ha'), ['hand']);
  assert.deepEqual(await words('task', 'show', 'some'), ['some-task']);
  assert.deepEqual(await words('task', 'add', 'x', '--to', 'h'), ['hand']);
  assert.ok((await words('init', '--example', 'm')).includes('mesh'));
  workspace.put('agents/asks.md', '---\ndescription: Asks\ntools: [ask_human]\n---\nAsk.\n');
  workspace.put('script.yaml', '- {agent: asks, call: [{ask_human: {question: Which?}}]}\n');
  await workspace.guild('run', 'asks', 'ask me', '--id', 'open');
  const requests = await words('answer', '');
  assert.ok(requests.length > 0 && !requests.includes('some-task'), 'only what waits for an answer');
  for (const id of requests) assert.match(id, /call-/);
  assert.ok((await words('run', '--con')).includes('--continue'));
  for (const shell of ['bash', 'zsh', 'fish'])
    assert.match(succeeds(await workspace.guild('completion', shell)).out, /guild completion words --/);
  assert.equal((await workspace.guild('completion', 'tcsh')).code, 2);
});

test('init copies an example, and names the nearest one', async (t) => {
  const empty = place(t);
  succeeds(await empty.guild('init', '--example', 'router'));
  assert.ok(empty.list('agents').length > 0);
  succeeds(await empty.guild('check'));
  const wrong = await empty.guild('init', 'x', '--example', 'ruter');
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /router/);
});
