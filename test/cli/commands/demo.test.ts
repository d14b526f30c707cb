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

test('for programs, the demo ends with the outbox', async (t) => {
  const { guild } = place(t);
  const { out } = succeeds(await guild('demo', '--yes', '--dir', 'day', '--json'));
  const last = JSON.parse(out.trim().split('\n').at(-1)!) as { state: string; outbox: { to: string; sent: boolean }[] };
  assert.deepEqual([last.state, last.outbox.map(({ to, sent }) => [to, sent])], ['completed', [['sarah', false]]]);
});
