/** Two processes share an agent that works on one task at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

test('guild run waits until an agent that guild watch keeps busy is free, then does its own task', async (t) => {
  const workspace = place(
    t,
    scripted('- {task: slow, wait: 3s, say: Slowly.}\n- {say: Done.}', {
      'agents/ana.md': '---\ndescription: A\nmax_concurrent_tasks: 1\n---\nDo it.\n',
      'tasks/pending/slow.json': '{"description": "Take your time", "to": "ana"}',
    }),
  );
  const watching = workspace.start('watch');
  await until(() => !workspace.list('tasks/pending').includes('slow.json'));
  assert.match(succeeds(await workspace.guild('run', 'ana', 'be quick')).out, /Done\./);
  watching.interrupt();
  await watching.ended;
});
