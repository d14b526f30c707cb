/** An agent that works on one task at once, in two processes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

test('guild run waits for room at an agent whom guild watch keeps busy, and then does its own task', async (t) => {
  const here = place(
    t,
    scripted('- {task: slow, wait: 3s, say: Slowly.}\n- {say: Done.}', {
      'agents/ana.md': '---\ndescription: A\nmax_concurrent_tasks: 1\n---\nDo it.\n',
      'tasks/pending/slow.json': '{"description": "Take your time", "to": "ana"}',
    }),
  );
  const watching = here.start('watch');
  await until(() => !here.list('tasks/pending').includes('slow.json'));
  assert.match(succeeds(await here.guild('run', 'ana', 'be quick')).out, /Done\./);
  watching.interrupt();
  await watching.ended;
});
