/** Quiet hours and the words of a message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf, quietMs } from '../../../src/domain/config/notify.js';

const hours = (from: number, to: number) => ({ quiet: { from: from * 60, to: to * 60, timezone: 'Europe/Berlin' } });
/** Winter time in Berlin is one hour ahead. */
const at = (time: string): Date => new Date(`2026-01-15T${time}Z`);

const QUIET: [string, ReturnType<typeof hours>, string, number][] = [
  ['before', hours(22, 7), '20:59:59', 0],
  ['at its start, over midnight', hours(22, 7), '21:00:00', 9 * 3600_000],
  ['after midnight', hours(22, 7), '00:30:00', 5.5 * 3600_000],
  ['a moment before its end', hours(22, 7), '05:59:30', 30_000],
  ['at its end', hours(22, 7), '06:00:00', 0],
  ['at noon', hours(12, 13), '11:15:00', 45 * 60_000],
  ['of no length', hours(12, 12), '11:00:00', 0],
];

for (const [what, rule, time, expected] of QUIET)
  test(`quiet hours: ${what}`, () => assert.equal(quietMs(rule, at(time)), expected));

test('one message says what waits, failed and ended, and shows the first five', () => {
  const notice = (kind: 'waits' | 'failed' | 'ended', n: number) => ({
    kind,
    task: `t${n}`,
    agent: 'ana',
    title: `T${n}`,
  });
  assert.equal(messageOf([notice('waits', 1)], 'office').title, '1 thing waits for you in office');
  const many = messageOf(
    [1, 2, 3, 4, 5, 6, 7].map((n) => notice(n < 5 ? 'waits' : n === 5 ? 'failed' : 'ended', n)),
    'office',
  );
  assert.equal(many.title, '4 things wait for you, 1 failed, 2 ended in office');
  assert.deepEqual(many.text.split('\n').slice(-2), ['ana failed: T5', 'and 2 more']);
});
