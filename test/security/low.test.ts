/** The Low list of the security review, for lines that no other test file covers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { judgeLine } from '../../src/rules/policy/verdict.js';
import { parseBash } from '../../src/text/bash/parse.js';
import { PACKAGE } from '../kit/guild.js';
import { ballotOf, exists, openEntries, pump, scene } from './scene.js';

test('a ballot that is cut off after its first entry withdraws nothing and runs nothing', async (t) => {
  const workspace = scene(
    t,
    `- turn: 1
  call: [{execute_command: {command: "touch first"}}]
- say: done
`,
  );
  for (const id of ['a', 'b', 'c'])
    workspace.put(`tasks/pending/${id}.json`, JSON.stringify({ description: `do ${id}`, to: 'executor' }));
  await pump(workspace);
  assert.equal(openEntries(workspace), 3);
  const whole = ballotOf(workspace);
  const second = whole.indexOf('- [_]', whole.indexOf('- [_]') + 1);
  workspace.put('tasks/approvals.task.md', whole.slice(0, second));
  const { out, err } = await pump(workspace);
  assert.match(out + err, /lacks its last line: its marks count, nothing is withdrawn/);
  await pump(workspace);
  assert.equal(openEntries(workspace), 3, ballotOf(workspace));
  assert.equal(exists(workspace, 'workspaces/executor/first'), false);
});

test('a backslash at the end of a line is the word that Bash makes of it', () => {
  const judge = (line: string) =>
    judgeLine(line, { policy: DEFAULT_POLICY, parse: parseBash, home: '/home/ana', cwd: '/srv/ws' });
  for (const rest of ['\\', 'a\\', 'a \\', '\\\n-la', "'a' \\"]) {
    const inBash = execFileSync('bash', ['-c', `ls() { printf '%s\\0' "$@"; }; ls ${rest}`], { encoding: 'utf8' });
    const { verdict, argv } = judge(`ls ${rest}`);
    assert.deepEqual([verdict, argv], ['auto', [['ls', ...inBash.split('\0').slice(0, -1)]]], rest);
  }
  // Without a space before it, the backslash is part of the name of the command.
  assert.equal(judge('ls\\').verdict, 'ask');
});

test('the record of a command that ran by itself has its line', async (t) => {
  const workspace = scene(t, '- {turn: 1, call: [{execute_command: {command: "pwd"}}]}\n- say: done\n');
  workspace.put('tasks/pending/t.json', '{"description": "look", "to": "executor"}');
  await pump(workspace);
  const events = workspace.list('events').flatMap((file) => workspace.read(`events/${file}`).trim().split('\n'));
  const ran = events
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ name }) => name === 'tool.ran');
  assert.deepEqual(
    ran.map((event) => event['command']),
    ['pwd'],
  );
});

test('packages run no script when they are installed, are audited, and a release is signed', () => {
  const read = (file: string): string => fs.readFileSync(path.join(PACKAGE, file), 'utf8');
  assert.match(read('.npmrc'), /^ignore-scripts=true$/m);
  assert.doesNotMatch(read('.npmrc'), /audit=false/);
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { integrity?: string; link?: boolean; resolved?: string }>;
  };
  const installed = Object.entries(packages).filter(([name, { link }]) => name.startsWith('node_modules/') && !link);
  assert.deepEqual(
    installed.filter(([, { integrity }]) => integrity === undefined).map(([name]) => name),
    [],
  );
  assert.match(read('scripts/release.mjs'), /git\('tag', '--sign'/);
  assert.match(read('SECURITY.md'), /security\/advisories\/new/);
});
