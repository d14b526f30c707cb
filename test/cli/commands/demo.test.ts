/** `guild demo` claims nothing that did not happen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, succeeds } from '../../kit/guild.js';

test('without a sandbox and without a Slack token, the demo says so', async (t) => {
  const { guildWith } = place(t);
  const env = { GUILD_SANDBOX: 'off' };
  const { out, err } = succeeds(await guildWith({ env }, 'demo', '--yes', '--dir', 'day'));
  assert.doesNotMatch(err, /in its sandbox|is sent|left the house/);
  assert.match(err, /not sandboxed/, 'as the approval says');
  assert.match(out, /^sarah: Hi Sarah! Redis is not running right now/);
  assert.match(err, /It was not sent: no Slack token is set\./);
});

test('the demo shows what was said and found, and no ids', async (t) => {
  const { guild } = place(t);
  const { err } = succeeds(await guild('demo', '--yes', '--dir', 'day'));
  const story = err.slice(0, err.indexOf('The tasks'));
  assert.doesNotMatch(story, /call-\w{10}|inbox-slack-messages-\w/);
  assert.match(story, /execute_command bin\/podman ps\n +CONTAINER ID[^\n]*\n.*nginx[^\n]*\n.*postgres/);
  assert.match(story, /Redis is not running\./);
});

test('for programs, the demo ends with the outbox', async (t) => {
  const { guild } = place(t);
  const { out } = succeeds(await guild('demo', '--yes', '--dir', 'day', '--json'));
  const last = JSON.parse(out.trim().split('\n').at(-1)!) as { state: string; outbox: { to: string; sent: boolean }[] };
  assert.deepEqual([last.state, last.outbox.map(({ to, sent }) => [to, sent])], ['completed', [['sarah', false]]]);
});

test('the office by hand, as its README says: the program of the example runs, and the reply is in the outbox', async (t) => {
  const { guild, read, put } = place(t);
  succeeds(await guild('init', '--example', 'office'));
  succeeds(await guild('mail', 'add', 'Can you check if Redis is running?', '--from', 'sarah', '--channel', 'slack'));
  let ran = '';
  for (let request = 0; request < 2; request++) {
    await guild('pump', '--all');
    put('tasks/approvals.task.md', read('tasks/approvals.task.md').replace('[_]', '[x]'));
    ran += (await guild('pump', '--all')).err;
  }
  assert.match(ran, /execute_command bin\/podman ps → CONTAINER ID/);
  assert.match(read('inbox/slack-outbox.jsonl'), /Redis is not running right now/);
});
