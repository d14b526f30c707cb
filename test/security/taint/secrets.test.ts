/** M3, M8: a text that an agent may not read reaches neither it nor others by another way. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { Place } from '../../kit/guild.js';
import { ballotOf, openEntries, pump, scene, tickAll } from '../scene.js';

const HISTORY =
  'model: s/x\nproviders:\n  s: {kind: scripted, script: script.yaml}\ndefault_agent: executor\ngit: {enabled: true}\n';

/** Every file below the workspace that contains the bytes, in the folder or in its history. */
function holders({ root }: Place, bytes: Buffer | string): string[] {
  const found = fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => fs.lstatSync(path.join(root, file)).isFile())
    .filter((file) => fs.readFileSync(path.join(root, file)).includes(bytes));
  const git = path.join(root, '.guild/history.git');
  if (!fs.existsSync(git)) return found;
  const run = (...args: string[]): Buffer =>
    execFileSync('git', ['--git-dir', git, ...args], { maxBuffer: 1 << 28, env: { PATH: process.env['PATH'] } });
  const objects = run('cat-file', '--batch-all-objects', '--batch');
  return objects.includes(bytes) ? [...found, 'the history'] : found;
}

test('the diff of a request to replace a secret does not show the secret', async (t) => {
  const workspace = scene(
    t,
    `- agent: executor
  turn: 1
  call:
    - write_file: {path: .env, content: "KEY=new\\n"}
- agent: executor
  turn: 2
  say: done
`,
    { '.env': 'KEY=CANARY-OLD\n', 'guild.yaml': HISTORY },
  );
  assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
  assert.equal(openEntries(workspace), 1);
  assert.match(ballotOf(workspace), /may contain a secret, so it is not compared/);
  assert.deepEqual(holders(workspace, 'CANARY-OLD'), ['.env']);
  workspace.put('.env', 'KEY=CANARY-LATER\n');
  tickAll(workspace);
  await pump(workspace);
  assert.equal(openEntries(workspace), 1, 'it is still bound to the file that it would replace');
  assert.deepEqual(holders(workspace, 'CANARY-LATER'), ['.env']);
});

test('a secret that changed after an approval is asked about again, without its text', async (t) => {
  const workspace = scene(
    t,
    `- turn: 1
  call:
    - execute_command: {command: "cp .env workspaces/executor/copy.txt"}
- turn: 2
  say: done
`,
    { '.env': 'KEY=CANARY-OLD\n', 'guild.yaml': HISTORY },
  );
  assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
  workspace.put('.env', 'KEY=CANARY-LATER\n');
  tickAll(workspace);
  await pump(workspace);
  assert.equal(openEntries(workspace), 1);
  assert.match(ballotOf(workspace), /\.env has changed/);
  for (const canary of ['CANARY-OLD', 'CANARY-LATER'])
    assert.deepEqual(
      holders(workspace, canary).filter((file) => file !== '.env'),
      [],
    );
});

/** The first bytes make it an image; the rest is what must not leak. */
const IMAGE = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from('CANARY-IMAGE-'.repeat(9)),
]);

test('M8: the text of a secret that was read stays in .guild/private, out of conversation and history', async (t) => {
  const script =
    '- turn: 1\n  call: [{read_file: {path: context/secrets/db.txt}}]\n- call: [{final_report: {report: ok}}]\n';
  const files = { 'guild.yaml': HISTORY, 'context/secrets/db.txt': 'hunter2-in-a-file\n' };
  const workspace = scene(t, script, files);
  await workspace.guild('run', 'executor', 'look');
  tickAll(workspace);
  await pump(workspace);
  const found = holders(workspace, 'hunter2-in-a-file').filter((file) => !file.startsWith('context/secrets'));
  assert.ok(found.length > 0 && found.every((file) => file.startsWith('.guild/private/')), found.join());
});

test('M8: the bytes of a secret image stay in .guild/private, and the model still gets them', async (t) => {
  const workspace = scene(
    t,
    `- turn: 1
  call:
    - read_file: {path: secrets/code.png}
- turn: 2
  say: "done: {{last}}"
`,
    { 'guild.yaml': HISTORY },
  );
  fs.mkdirSync(path.join(workspace.root, 'secrets'));
  fs.writeFileSync(path.join(workspace.root, 'secrets/code.png'), IMAGE);
  workspace.put('tasks/pending/main.json', '{"description": "look", "to": "executor"}');
  await pump(workspace);
  assert.equal(openEntries(workspace), 1);
  tickAll(workspace);
  await pump(workspace);
  await pump(workspace);
  const session = workspace.read('sessions/executor-main.session.yaml');
  const [, hash] = /files: \[.*blob: '?([0-9a-f]{64})/.exec(session)!;
  assert.deepEqual(holders(workspace, IMAGE).sort(), [`.guild/private/${hash}`, 'secrets/code.png']);
});

test('a command that names the ballot is asked about once', async (t) => {
  const workspace = scene(
    t,
    `- turn: 1
  call:
    - execute_command: {command: "touch memory/first"}
- turn: 2
  call:
    - execute_command: {command: "touch memory/second; wc -l tasks/approvals.task.md"}
- turn: 3
  say: done
`,
  );
  assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
  for (const file of ['first', 'second']) {
    assert.equal(openEntries(workspace), 1);
    tickAll(workspace);
    await pump(workspace);
    assert.ok(fs.existsSync(path.join(workspace.root, 'memory', file)), ballotOf(workspace));
    await pump(workspace);
  }
  assert.equal(openEntries(workspace), 0);
});
