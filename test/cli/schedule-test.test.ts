/** `guild schedule test`: the due times as a person reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../kit/guild.js';

test('due times are printed in the zone that was named, with its offset', async (t) => {
  const { guild } = place(t, scripted('- say: fine'));
  for (const [zone, offset] of [
    ['Asia/Tokyo', '+09:00'],
    ['Asia/Kolkata', '+05:30'],
    ['America/Phoenix', '-07:00'],
    ['UTC', '+00:00'],
  ] as const) {
    const { out } = succeeds(await guild('schedule', 'test', '0 9 * * 1', '--timezone', zone));
    const lines = out.trimEnd().split('\n');
    assert.equal(lines.length, 5);
    for (const line of lines) {
      const [day, ...rest] = line.split(' ');
      assert.deepEqual(rest, ['09:00:00', offset], zone);
      assert.equal(new Date(day!).getUTCDay(), 1, line);
    }
  }
});

test('without a named zone they are in the zone of guild.yaml', async (t) => {
  const files = scripted('- say: fine');
  files['guild.yaml'] += 'timezone: Asia/Tokyo\n';
  const { out } = succeeds(await place(t, files).guild('schedule', 'test', '0 9 * * 1'));
  assert.match(out, /^\d{4}-\d\d-\d\d 09:00:00 \+09:00$/m);
});
