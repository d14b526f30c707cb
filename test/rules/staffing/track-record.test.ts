/** The history of an agent's tasks determines its reliability. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import type { Event } from '../../../src/domain/event.js';
import {
  addToRecords,
  NO_RECORD,
  recordOf,
  reliability,
  tally,
  type TrackRecords,
} from '../../../src/rules/staffing/track-record.js';

const event = (name: Event['name'], more: Partial<Event> = {}): Event => ({
  at: '2026-01-01T00:00:00.000Z',
  name,
  task: 't',
  agent: 'ana',
  role: 'root',
  ...more,
});
const failed = (code: string): Event => event('task.failed', { error: { code, message: 'x' } });
const fold = (events: Event[]): TrackRecords => events.reduce(addToRecords, {});

test('only outcomes of work count, and only failures that the agent caused', () => {
  const table: [Event, string][] = [
    [event('task.completed'), 'a'],
    [failed('model_failed'), 'f'],
    [failed('over_budget'), 'f'],
    [failed('off_goal'), 'r'],
    [failed('cancelled'), ''],
    [failed('dependency_failed'), ''],
    [failed('taker_lost'), ''],
    [event('task.claimed'), ''],
    [event('task.completed', { role: 'bid' }), ''],
    [event('task.completed', { role: 'work' }), ''],
  ];
  for (const [line, outcome] of table)
    assert.equal(recordOf(fold([line]), 'ana').recent, outcome, JSON.stringify(line));
});

test('an agent without a record is trusted, and one failure weighs little', () => {
  assert.equal(reliability(NO_RECORD), 1);
  assert.ok(reliability(recordOf(fold([failed('model_failed')]), 'ana')) >= 0.8);
});

test('only the latest outcomes count, so that an improved agent regains trust', () => {
  const bad = Array.from({ length: 100 }, () => failed('model_failed'));
  const good = Array.from({ length: 50 }, (_, i) => event('task.completed', { task: `t${i}` }));
  const { recent, tasks } = recordOf(fold([...bad, ...good]), 'ana');
  assert.equal(reliability({ recent, tasks }), 1);
  assert.deepEqual(tasks, ['t45', 't46', 't47', 't48', 't49'], 'its latest tasks are kept by id');
});

test('agents may be named like a property of Object', () => {
  const records = fold([event('task.completed', { agent: 'constructor' })]);
  assert.deepEqual(recordOf(records, 'constructor').recent, 'a');
  assert.deepEqual(recordOf(records, 'toString'), NO_RECORD);
});

test('reliability is between 0 and 1 and falls with each failure', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[arf]{0,49}$/), (recent) => {
      const before = reliability({ recent, tasks: [] });
      const after = reliability({ recent: `${recent}f`, tasks: [] });
      assert.ok(before > 0 && before <= 1 && after < before);
      const { accepted, rejected, failed: lost } = tally({ recent, tasks: [] });
      assert.equal(accepted + rejected + lost, recent.length);
    }),
  );
});
