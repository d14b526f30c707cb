/** M1, M2, H3: consent is bound to content, to the base of a diff, and to the sandbox. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { NO_SANDBOX } from '../kit/commands.js';
import { environment, PACKAGE, type Place } from '../kit/guild.js';
import { ballotOf, exists, openEntries, pump, SANDBOX_OFF, scene, tickAll } from './scene.js';

const SWAP = `- when: {any: first}
  turn: 1
  call:
    - write_file: {path: workspaces/executor/build.sh, content: "echo harmless\\n"}
    - execute_command: {command: "bash workspaces/executor/build.sh"}
- when: {any: first}
  turn: 2
  call: [{final_report: {report: "done: {{last}}"}}]
- when: {any: second}
  turn: 1
  call:
    - write_file: {path: workspaces/executor/build.sh, content: "echo swapped; touch workspaces/executor/canary\\n"}
- when: {any: second}
  turn: 2
  call: [{final_report: {report: rewritten}}]
`;

test('M1: an approved script that was swapped before it ran is asked about again, with the diff', async (t) => {
  const workspace = scene(t, SWAP);
  assert.equal((await workspace.guild('run', 'executor', 'first')).code, 4);
  assert.equal((await workspace.guild('run', 'executor', 'second')).code, 0);
  tickAll(workspace);
  await pump(workspace);
  assert.ok(!exists(workspace, 'workspaces/executor/canary'));
  assert.equal(openEntries(workspace), 1);
  assert.match(ballotOf(workspace), /touch workspaces\/executor\/canary/);
  tickAll(workspace);
  await pump(workspace);
  assert.ok(exists(workspace, 'workspaces/executor/canary'), 'after a second yes it runs as shown');
});

test('the folder that the first command of an agent gets does not make approved commands ask again', async (t) => {
  const script = ['one', 'two']
    .map(
      (word) => `- when: {any: ${word}}
  turn: 1
  call: [{execute_command: {command: "bash -c 'echo ${word}'"}}]
- when: {any: ${word}}
  turn: 2
  say: "done: ${word}"
`,
    )
    .join('');
  const workspace = scene(t, script);
  fs.rmSync(path.join(workspace.root, 'workspaces'), { recursive: true, force: true });
  for (const word of ['one', 'two']) assert.equal((await workspace.guild('run', 'executor', word)).code, 4);
  tickAll(workspace);
  await pump(workspace);
  assert.equal(openEntries(workspace), 0);
});

test('M1: a later effect of a turn waits behind an earlier one that waits', async (t) => {
  const workspace = scene(
    t,
    `- turn: 1
  call:
    - write_file: {path: workspaces/executor/build.sh, content: "echo harmless\\n"}
- turn: 2
  call:
    - execute_command: {command: "bash workspaces/executor/build.sh"}
    - write_file: {path: workspaces/executor/build.sh, content: "touch workspaces/executor/canary\\n"}
    - read_file: {path: memory/private-notes.md}
- turn: 3
  say: "done: {{last}}"
`,
  );
  assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
  assert.equal(workspace.read('workspaces/executor/build.sh'), 'echo harmless\n');
  tickAll(workspace);
  await pump(workspace);
  assert.ok(!exists(workspace, 'workspaces/executor/canary'));
  assert.equal(workspace.read('workspaces/executor/build.sh'), 'touch workspaces/executor/canary\n');
});

test('M1: no rule is proposed for a line that interprets what an agent can write', async (t) => {
  const isProposed = async (command: string): Promise<boolean> => {
    const turns = [1, 2, 3, 4, 5].map(
      (turn) => `- {turn: ${turn}, call: [{execute_command: {command: "${command}"}}]}\n`,
    );
    const workspace = scene(t, `${turns.join('')}- {turn: 6, say: done}\n`, {
      'workspaces/executor/build.sh': 'echo built\n',
    });
    await workspace.guild('run', 'executor', 'go');
    let shown = ballotOf(workspace);
    // An approved action is done in one pass, and the next request is made in another.
    for (let n = 0; n < 10 && !/Always allow/.test(shown); n++) {
      if (openEntries(workspace) > 0) tickAll(workspace);
      await pump(workspace);
      shown += ballotOf(workspace);
    }
    return /Always allow/.test(shown);
  };
  const commands = ['touch memory/built', 'bash workspaces/executor/build.sh', './build.sh'];
  assert.deepEqual(await Promise.all(commands.map(isProposed)), [true, false, false]);
});

const REWRITE = `- turn: 1
  call:
    - write_file: {path: memory/plan.md, content: "line one\\nline TWO\\n"}
- turn: 2
  say: "done: {{last}}"
`;

test('M2: an approved write asks again after a person edited the file', async (t) => {
  const workspace = scene(t, REWRITE, { 'memory/plan.md': 'line one\nline two\n' });
  assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
  workspace.put('memory/plan.md', 'line one\nline two\nwritten by a person\n');
  tickAll(workspace);
  await pump(workspace);
  assert.equal(workspace.read('memory/plan.md'), 'line one\nline two\nwritten by a person\n');
  assert.equal(openEntries(workspace), 1);
  assert.match(ballotOf(workspace), /written by a person/);
  tickAll(workspace);
  await pump(workspace);
  assert.equal(workspace.read('memory/plan.md'), 'line one\nline TWO\n');
});

test('M2: a link put in the place of the file does not receive the approved bytes', async (t) => {
  const workspace = scene(t, REWRITE, { 'memory/plan.md': 'line one\nline two\n', 'context/other.md': 'keep me\n' });
  assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
  fs.rmSync(path.join(workspace.root, 'memory/plan.md'));
  fs.symlinkSync('../context/other.md', path.join(workspace.root, 'memory/plan.md'));
  tickAll(workspace);
  await pump(workspace);
  assert.equal(workspace.read('context/other.md'), 'keep me\n');
  assert.equal(openEntries(workspace), 1);
});

/** A workspace whose agent asks for a command that writes outside, and the file it would write. */
function reachingOut(t: TestContext, guild: string): { workspace: Place; canary: string } {
  const workspace = scene(t, '', { 'guild.yaml': guild });
  const canary = `${workspace.root}-canary`;
  t.after(() => fs.rmSync(canary, { force: true }));
  workspace.put(
    'script.yaml',
    `- turn: 1
  call:
    - execute_command: {command: "ls"}
- turn: 2
  call:
    - execute_command: {command: "touch ${canary}; ls -d .guild"}
- turn: 3
  say: "done: {{last}}"
`,
  );
  return { workspace, canary };
}

test('H3, R10: a command approved as sandboxed does not run without the sandbox', { skip: NO_SANDBOX }, async (t) => {
  const { workspace, canary } = reachingOut(t, GUILD('preferred'));
  assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
  assert.match(ballotOf(workspace), /sandboxed/);
  tickAll(workspace);
  await pump(workspace, SANDBOX_OFF);
  assert.ok(!fs.existsSync(canary));
  assert.equal(openEntries(workspace), 1);
  assert.match(ballotOf(workspace), /not sandboxed/);
});

test(
  'H3: where commands ran sandboxed before, they do not run when the sandbox is gone',
  { skip: NO_SANDBOX },
  async (t) => {
    const { workspace, canary } = reachingOut(t, GUILD());
    assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
    tickAll(workspace);
    const pumped = await pump(workspace, SANDBOX_OFF);
    assert.ok(!fs.existsSync(canary));
    assert.match(pumped.out + pumped.err, /sandbox/);
  },
);

test(
  'H3 (b): where user namespaces are forbidden later, what was approved as sandboxed does not run',
  { skip: NO_SANDBOX },
  async (t) => {
    for (const [guild, expected] of [
      [GUILD(), /commands ran sandboxed here before, and no sandbox is available now/],
      [GUILD('preferred'), /not sandboxed/],
    ] as const) {
      const { workspace, canary } = reachingOut(t, guild);
      assert.equal((await workspace.guild('run', 'executor', 'go')).code, 4);
      tickAll(workspace);
      const walls = ['--dev-bind', '/', '/', '--unshare-user', '--disable-userns', '--'];
      const guildPump = [...walls, process.execPath, path.join(PACKAGE, 'bin/guild.mjs'), 'pump'];
      const given = { cwd: workspace.root, env: environment(workspace.root), encoding: 'utf8' } as const;
      let said = '';
      // A file that was saved a moment ago is read by a later pass.
      for (let n = 0; n < 10 && !expected.test(said); n++) {
        const { stdout, stderr } = spawnSync('bwrap', guildPump, given);
        said += stdout + stderr + ballotOf(workspace);
      }
      assert.ok(!fs.existsSync(canary), said);
      assert.match(said, expected);
    }
  },
);

function GUILD(sandbox?: string): string {
  const wanted = sandbox === undefined ? '' : `sandbox: ${sandbox}\n`;
  return `model: s/x\nproviders:\n  s: {kind: scripted, script: script.yaml}\ndefault_agent: executor\n${wanted}git: {enabled: false}\n`;
}
