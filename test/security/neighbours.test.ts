/** One agent does not get at the texts of another by a name like its own, or by a hash. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { readCases } from '../../src/app/eval/read-cases.js';
import { runCases } from '../../src/app/eval/run-cases.js';
import { environment, place, ROOT, succeeds } from '../kit/guild.js';
import { ballotOf, pump, scene } from './scene.js';

const GUILD = `model: s/x
providers:
  s: {kind: scripted, script: script.yaml}
default_agent: executor
git: {enabled: false}
limits: {max_result_bytes: 4000}
`;
const AGENT = '---\ndescription: Does work\ntools: [read_file, search_files, execute_command]\n---\nYou work.\n';

test('an agent may not read a conversation of an agent whose name starts with its own', async (t) => {
  const script = `- agent: executor-two
  say: "the code is 4711"
- agent: executor
  turn: 1
  call: [{read_file: {path: sessions/executor-two-t1.session.yaml}}]
- agent: executor
  turn: 2
  call: [{read_file: {path: sessions/executor-t2.session.yaml}}]
- say: "read: {{last}}"
`;
  const workspace = scene(t, script, { 'agents/executor-two.md': AGENT });
  workspace.put('tasks/pending/t1.json', JSON.stringify({ description: 'say it', to: 'executor-two' }));
  await pump(workspace);
  assert.match(workspace.read('sessions/executor-two-t1.session.yaml'), /4711/);
  workspace.put('tasks/pending/t2.json', JSON.stringify({ description: 'read it', to: 'executor' }));
  await pump(workspace);
  assert.match(ballotOf(workspace), /another agent's conversation/);
  assert.doesNotMatch(workspace.read('sessions/executor-t2.session.yaml'), /4711/);
});

test('an agent still reads its own conversation without a question', async (t) => {
  const script = `- turn: 1
  call: [{read_file: {path: sessions/executor-t1.session.yaml}}]
- say: "own: {{last}}"
`;
  const workspace = scene(t, script);
  workspace.put('tasks/pending/t1.json', JSON.stringify({ description: 'look back', to: 'executor' }));
  await workspace.guild('pump', '--all');
  assert.equal(ballotOf(workspace), '');
  assert.match(workspace.read('sessions/executor-t1.session.yaml'), /own: session_id: executor-t1/);
});

test('a stored text that the conversation does not name carries taint; its own cut result does not', async (t) => {
  const script = `- turn: 1
  call: [{read_file: {path: memory/long.md}}]
- turn: 2
  call: [{read_file: {path: "{{blob}}"}}]
- turn: 3
  call: [{execute_command: {command: "touch memory/out"}}]
- say: done
`;
  const long = 'a long line of text that is worth nothing\n'.repeat(500);
  for (const isOwn of [true, false]) {
    const workspace = scene(t, script, { 'memory/long.md': long, 'guild.yaml': GUILD });
    workspace.put('tasks/pending/first.json', JSON.stringify({ description: 'first', to: 'executor' }));
    workspace.put('script.yaml', '- turn: 1\n  call: [{read_file: {path: memory/long.md}}]\n- say: done\n');
    await workspace.guild('pump', '--all');
    const [, cut] = /storage\/blobs\/([0-9a-f]{64})/.exec(workspace.read('sessions/executor-first.session.yaml')) ?? [];
    assert.ok(cut, 'a long result is cut and stored');
    const other = workspace.list('storage/blobs').find((name) => /^[0-9a-f]{64}$/.test(name) && name !== cut)!;
    workspace.put('script.yaml', script.replace('{{blob}}', `storage/blobs/${isOwn ? cut : other}`));
    workspace.put('tasks/pending/second.json', JSON.stringify({ description: 'second', to: 'executor' }));
    await workspace.guild('pump', '--all');
    const influenced = /Influenced by: storage\/blobs/.test(ballotOf(workspace));
    assert.equal(influenced, !isOwn, ballotOf(workspace));
  }
});

test('guild eval leaves no trust record of its copies', async (t) => {
  const workspace = place(t);
  succeeds(await workspace.guild('init', '.'));
  const env = environment(workspace.root);
  const records = (): string[] => fs.readdirSync(path.join(env['GUILD_STATE']!, 'workspaces')).sort();
  const before = records();
  const { cases } = readCases(ROOT, 'starter/evals');
  const options = { root: workspace.root, env, times: 1, parallel: 1, approves: true, offline: 'anthropic' as const };
  await runCases(cases.slice(0, 1), options);
  assert.deepEqual(records(), before);
});
