/** A schedule is read as cron reads it, and a mistake in it is named exactly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronFault, zoneFault } from '../../src/domain/schedule.js';
import { isSafeId, runId } from '../../src/domain/task/id.js';

test('these schedules are valid, and croner reads each of them', async () => {
  const { Cron } = await import('croner');
  const valid = [
    '0 9 * * 1',
    '*/7 1-5/2 * * *',
    '0 0 29 2 *',
    '0 0 * jan-mar mon,wed-fri',
    '0 0 * * 7',
    '5,10 * 1 * *',
  ];
  for (const text of [...valid, '@hourly', '@daily', '@weekly', '@monthly', '@yearly', '0 9 31 2 1']) {
    assert.equal(cronFault(text), undefined, text);
    assert.ok(new Cron(text, { paused: true, timezone: 'UTC' }).nextRun(new Date('2026-01-01')), text);
  }
});

test('a mistake is named with its field', () => {
  const table: [string, RegExp][] = [
    ['', /five fields .*, not 0/],
    ['9 * * 1', /five fields .*, not 4/],
    ['0 0 9 * * 1', /five fields .*, not 6/],
    ['61 * * * *', /"61" is not a minute \(0 to 59\)/],
    ['* 24 * * *', /"24" is not an hour \(0 to 23\)/],
    ['* * 0 * *', /"0" is not a day of the month \(1 to 31\)/],
    ['* * * * mo', /"mo" is not a day of the week/],
    ['5-1 * * * *', /"5-1" is not a minute/],
    ['*/0 * * * *', /"\*\/0" is not a minute/],
    ['5/20 * * * *', /needs a range to step through: write \*\/20 or 5-59\/20/],
    ['* * * * *; rm', /not 6|is not a day/],
    ['0 0 31 2,4 *', /day 31 of month 2,4 never comes/],
    ['@reboot', /is not one of @hourly/],
  ];
  for (const [text, fault] of table) assert.match(cronFault(text) ?? 'no fault', fault, text);
});

test('a time zone is an IANA name', () => {
  assert.equal(zoneFault('Europe/Berlin'), undefined);
  assert.match(zoneFault('Mars/Olympus') ?? '', /"Mars\/Olympus" is not a time zone/);
});

test('the id of a run follows from the schedule and the time, and can be a file name', () => {
  assert.equal(runId('weekly', '2026-11-23T08:00:00.000Z'), 'weekly-20261123T0800Z');
  const long = runId('x'.repeat(100), '2026-11-23T08:00:00.000Z');
  assert.ok(isSafeId(long), long);
  assert.notEqual(long, runId('x'.repeat(100), '2026-11-23T08:01:00.000Z'));
});
