/** Commands that create a folder take `--workspace` like all others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, succeeds } from '../kit/guild.js';

test('demo and init create the folder that --workspace names', async (t) => {
  const { guild, list } = place(t);
  succeeds(await guild('init', '--workspace', 'w', '--quiet'));
  assert.ok(list('w').includes('guild.yaml'));
  succeeds(await guild('demo', '--yes', '--quiet', '-w', 'day'));
  assert.ok(list('day').includes('guild.yaml'));
  assert.deepEqual(list('.'), ['day', 'w']);
});

test('two different folders are refused before anything is created', async (t) => {
  const { guild, list } = place(t);
  for (const command of ['init a --workspace b', 'demo --dir a --workspace b']) {
    const { code, err } = await guild(...command.split(' '));
    assert.equal(code, 2);
    assert.match(err, /--workspace name two folders: a and b/);
  }
  assert.deepEqual(list('.'), []);
});

test('a folder of a workspace cannot become a workspace', async (t) => {
  const here = place(t, { 'guild.yaml': 'git: false\n', 'tasks/pending/x.json': '{"description":"x"}' });
  const inside = await here.guild('init', 'tasks');
  assert.equal(inside.code, 2);
  assert.match(inside.err, /tasks\/ belongs to the workspace/);
  assert.deepEqual(here.list('tasks'), ['pending']);
  const beside = await here.guild('init', 'projects/other');
  assert.equal(beside.code, 0, beside.err);
});
