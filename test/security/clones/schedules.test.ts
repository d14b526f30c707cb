/** Schedules that came with a folder: none hangs, fires faster than a minute, or names a file. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { place, scripted } from '../../kit/guild.js';

const REFUSED: Record<string, unknown> = {
  words: { cron: 'garbage' },
  seconds: { cron: '* * * * * *' },
  never: { cron: '0 0 31 2 *' },
  zero: { cron: '*/0 * * * *' },
  wide: { cron: '0-99999999 * * * *' },
  zone: { cron: '* * * * *', timezone: '../../etc/passwd' },
};
const KEPT: Record<string, unknown> = {
  long: { cron: `${'1,'.repeat(50_000)}1 * * * *` },
  old: { cron: '* * * * *', last: '1970-01-01T00:00:00.000Z', missed: 'once' },
};

test('hostile schedules are refused with their place, at once, and the others wait for their time', async (t) => {
  const clone = place(t, scripted('- {say: done}'));
  for (const [id, schedule] of Object.entries({ ...REFUSED, ...KEPT }))
    clone.put(`tasks/pending/${id}.json`, JSON.stringify({ description: id, to: 'boss', schedule }));
  const before = process.cpuUsage();
  const { code, err } = await clone.guildWith({ untrusted: true }, 'pump');
  const { user } = process.cpuUsage(before);
  assert.equal(code, 0, err);
  assert.deepEqual(
    clone.list('quarantine').filter((name) => /^\w+\.json$/.test(name)),
    Object.keys(REFUSED)
      .map((id) => `${id}.json`)
      .sort(),
  );
  for (const id of Object.keys(REFUSED)) assert.match(err, new RegExp(`tasks/pending/${id}\\.json:1:\\d+: `));
  assert.deepEqual(
    clone.list('tasks/waiting').filter((name) => !name.includes('@')),
    Object.keys(KEPT)
      .map((id) => `${id}.json`)
      .sort(),
  );
  assert.ok(user < 5_000_000, `${user / 1000} ms of processor time`);
});
