/** Workspaces with very many tasks, and an interrupt in the middle. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../kit/guild.js';

const CROWD = 1100;

test('a long list shows some tasks and counts the rest; --json lists all', async (t) => {
  const files: Record<string, string> = {};
  for (let n = 0; n < CROWD; n++) files[`tasks/pending/t${n}.json`] = JSON.stringify({ description: `Thing ${n}` });
  const { guild } = place(t, scripted('- say: ok', files));
  const few = succeeds(await guild('task', 'list', '--limit', '5'));
  assert.equal(few.out.trimEnd().split('\n').length, 5);
  assert.match(few.err, new RegExp(`and ${CROWD - 5} more`));
  const all = succeeds(await guild('task', 'list', '--json'));
  assert.equal((JSON.parse(all.out) as unknown[]).length, CROWD);
});

test('Ctrl-C in the middle of a run that cannot ask cancels its task, and takes nothing up again', async (t) => {
  const { guild, start, list } = place(t, scripted('- {say: ok, wait: 10m}'));
  const run = start('run', 'boss', 'Wait for it', '--id', 'slow', '--json');
  await run.says(/task\.claimed/);
  run.interrupt();
  assert.equal((await run.ended).code, 130);
  assert.deepEqual(
    ['pending', 'active', 'failed'].map((state) => list(`tasks/${state}`)),
    [[], [], ['slow.json']],
  );
  assert.match(succeeds(await guild('task', 'list', '--all')).out, /(cancelled|failed) +slow/);
});

test('Ctrl-C in the middle of a pump puts its task back, and takes nothing up again', async (t) => {
  const files = scripted('- {say: ok, wait: 10m}', {
    'tasks/pending/slow.json': '{"description": "Wait", "to": "boss"}',
  });
  const { guild, start, list } = place(t, files);
  const pump = start('pump', '--all', '--json');
  await pump.says(/task\.claimed/);
  pump.interrupt();
  const { code, out } = await pump.ended;
  assert.equal(code, 0);
  assert.equal(out.split('task.claimed').length, 2, 'claimed once');
  assert.deepEqual(list('tasks/pending'), ['slow.json']);
  assert.match(succeeds(await guild('task', 'list')).out, /pending +slow/);
});
