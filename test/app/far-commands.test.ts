/**
 * Commands in a folder whose work is in a shared store. The tests need no database: without one, a
 * command fails clearly and never falls back to the folder.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { place } from '../kit/guild.js';

const COMMANDS = [
  ['task', 'add', 'Do it'],
  ['task', 'list'],
  ['task', 'show', 'x'],
  ['agent', 'pause', 'ana'],
  ['notes', 'state'],
];

// Each command waits for the database, so all of them wait at the same time.
describe('without the database', { concurrency: true }, () => {
  for (const command of COMMANDS)
    test(`guild ${command.slice(0, 2).join(' ')} names the database that does not answer, and writes no file`, async (t) => {
      const workspace = place(t, {
        'guild.yaml': 'store: postgres://guild@127.0.0.1:1/guild\ngit: false\n',
        'agents/ana.md': '---\ndescription: A\n---\nDo it.\n',
      });
      const { code, err } = await workspace.guild(...command);
      assert.notEqual(code, 0);
      assert.match(err, /127\.0\.0\.1:1/);
      assert.deepEqual(
        fs.readdirSync(workspace.root).filter((name) => ['tasks', 'storage', 'bus'].includes(name)),
        [],
      );
      assert.equal(fs.existsSync(path.join(workspace.root, 'storage')), false);
    });
});

test('a password in guild.yaml is refused with its remedy', async (t) => {
  const workspace = place(t, { 'guild.yaml': 'store: postgres://guild:secret@127.0.0.1:1/guild\n' });
  const { code, err } = await workspace.guild('task', 'add', 'Do it');
  assert.notEqual(code, 0);
  assert.match(err, /contains a password/);
  assert.doesNotMatch(err, /secret/);
});

test('on a shared store only guild run can be recorded', async (t) => {
  const workspace = place(t, {
    'guild.yaml': 'store: postgres://guild@127.0.0.1:1/guild\n',
    'agents/ana.md': '---\ndescription: A\n---\nDo it.\n',
  });
  const { err } = await workspace.guild('record', 'one.jsonl', 'pump');
  assert.match(err, /shared store, only guild run can be recorded/);
});
