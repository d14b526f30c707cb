/** People read local times with their zone; programs and files get ISO times in UTC. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localDateTime, withLocalTimes, zone } from '../../src/views/local-time.js';
import { place, scripted, succeeds, type Ran } from '../kit/guild.js';

const at = '2026-05-04T22:30:05.000Z';

/** Node reads the time zone from its own environment, whenever it changes. */
async function inZone<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  const before = process.env['TZ'];
  process.env['TZ'] = name;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
}

test('a time is shown as the clock on the wall shows it, with its distance from UTC', async () => {
  for (const [name, shown] of [
    ['UTC', '2026-05-04 22:30:05 +00:00'],
    ['Europe/Berlin', '2026-05-05 00:30:05 +02:00'],
    ['America/St_Johns', '2026-05-04 20:00:05 -02:30'],
    ['Asia/Kathmandu', '2026-05-05 04:15:05 +05:45'],
  ] as const)
    assert.equal(await inZone(name, () => localDateTime(at)), shown);
  assert.equal(await inZone('Europe/Berlin', () => zone('2026-01-01T00:00:00.000Z')), '+01:00');
  assert.equal(
    await inZone('Europe/Berlin', () => withLocalTimes(`until ${at}, then again`)),
    'until 2026-05-05 00:30:05 +02:00, then again',
  );
});

test('every command shows local times to people and UTC to programs', async (t) => {
  const asked = { id: 'a', description: 'x', to: 'boss', created_at: at };
  const workspace = place(t, scripted('- say: ok', { 'tasks/pending/a.json': JSON.stringify(asked) }));
  const berlin = (...args: string[]): Promise<Ran> => inZone('Europe/Berlin', () => workspace.guild(...args));
  succeeds(await berlin('pump', '--all'));
  const show = succeeds(await berlin('task', 'show', 'a')).out;
  assert.match(show, /^created +2026-05-05 00:30:05 \+02:00$/m);
  const zoned = / ?\+0[12]:00/;
  for (const [command, line] of [
    ['why a', /^\d{4}-\d\d-\d\d \(local time, UTC\+0[12]:00\)$/m],
    ['top --once', /^last \(local time, UTC\+0[12]:00\)$/m],
    ['log', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0[12]:00 /m],
    ['state --history', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0[12]:00 /m],
    ['notes state', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0[12]:00 /m],
  ] as const) {
    assert.match(succeeds(await berlin(...command.split(' '))).out, line, command);
    const json = succeeds(await berlin(...command.split(' '), '--json')).out;
    assert.match(json, /T\d\d:\d\d:\d\d(\.\d+)?Z/, command);
    assert.doesNotMatch(json, zoned, command);
  }
  assert.match(workspace.read('tasks/completed/a.json'), /"created_at": ?"2026-05-04T22:30:05\.000Z"/);
});

test('cost counts by local days', async (t) => {
  const event = { at, name: 'model.answered', agent: 'boss', model: 'x/y', input_tokens: 1, output_tokens: 1, ms: 1 };
  const workspace = place(t, scripted('- say: ok', { 'events/2026-05-04.jsonl': `${JSON.stringify(event)}\n` }));
  const days = async (zoneName: string, ...more: string[]): Promise<string[]> => {
    const { out } = succeeds(await inZone(zoneName, () => workspace.guild('cost', '--by', 'day', '--json', ...more)));
    return (JSON.parse(out) as { rows: { key: string }[] }).rows.map((row) => row.key);
  };
  assert.deepEqual(await days('Europe/Berlin'), ['2026-05-05']);
  assert.deepEqual(await days('America/New_York'), ['2026-05-04']);
  assert.deepEqual(await days('Europe/Berlin', '--since', '2026-05-05'), ['2026-05-05']);
  assert.deepEqual(await days('America/New_York', '--since', '2026-05-05'), []);
});
