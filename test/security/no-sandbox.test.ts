/** H5: without a sandbox reading is auto only for files of the workspace that are not secrets. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { openEntries, SANDBOX_OFF, scene } from './scene.js';

const PROOFS = [
  'cat ../outside-canary.txt context/server.key',
  'grep -rhs CANARY .',
  'cat ~/.bash_history',
  'head ~/.vault-token',
  'cat /etc/ssl/private/server.key',
  'cat /etc/hosts',
  'cat link-out',
  'cat < /etc/hosts',
  'git diff --no-prefix /etc/hosts /etc/passwd',
];
const HARMLESS = [
  'cat memory/private-notes.md',
  'ls',
  'grep -rn safe memory',
  'git log --oneline -5',
  'echo /etc/hosts',
];

async function verdicts(
  root: { guild(...args: string[]): Promise<{ out: string }> },
  sandbox: string,
  lines: string[],
) {
  const { out } = await root.guild('policy', 'test', '--sandbox', sandbox, '--', ...lines);
  return out
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[0]);
}

test('H5: without a sandbox reading outside the workspace, or a secret in it, asks', async (t) => {
  const workspace = scene(t, '- say: done\n', { 'context/server.key': 'CANARY', '.env': 'CANARY' });
  assert.deepEqual(
    await verdicts(
      workspace,
      'off',
      PROOFS.filter((line) => line !== 'cat link-out'),
    ),
    Array(8).fill('ask'),
  );
  assert.deepEqual(
    await verdicts(workspace, 'off', HARMLESS),
    HARMLESS.map(() => 'auto'),
  );
  assert.deepEqual(await verdicts(workspace, 'on', ['cat /etc/hosts', 'grep -rhs CANARY .']), ['auto', 'auto']);
});

test('H5: GUILD_SANDBOX=off, and the agent reads nothing outside without a mark', async (t) => {
  const outside = scene(t, '', { 'diary.txt': 'OUTSIDE\n' });
  for (const command of [`cat ${outside.root}/diary.txt`, `grep -rhs OUTSIDE ${outside.root}`, 'cat .env']) {
    const script = `- turn: 1\n  call: [{execute_command: {command: ${JSON.stringify(command)}}}]\n- {turn: 2, say: "done: {{last}}"}\n`;
    const workspace = scene(t, script, { '.env': 'OUTSIDE' });
    const ran = await workspace.guildWith(SANDBOX_OFF, 'run', 'executor', 'look');
    assert.equal(ran.code, 4, ran.out);
    assert.doesNotMatch(ran.out, /OUTSIDE$/m);
    assert.equal(openEntries(workspace), 1, command);
  }
});
