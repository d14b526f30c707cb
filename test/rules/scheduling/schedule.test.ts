/** Due times: at most one run for all that have passed, and a report of all others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleStep } from '../../../src/rules/scheduling/schedule.js';

const AT = '2026-11-23T08:00:00.000Z';
const ON_TIME = '2026-11-23T08:00:01.000Z';
const LATE = '2026-11-23T12:00:00.000Z';
const one = { first: AT, latest: AT, count: 1 };
const three = { first: '2026-11-09T08:00:00.000Z', latest: AT, count: 3 };

const TABLE: [string, Parameters<typeof scheduleStep>, ReturnType<typeof scheduleStep>][] = [
  [
    'a due time gets a run',
    [{ cron: '' }, { now: ON_TIME, due: one, exists: false, isRunning: false }],
    { fires: true },
  ],
  [
    'a due time that passed long ago gets none',
    [{ cron: '' }, { now: LATE, due: one, exists: false, isRunning: false }],
    { fires: false, missed: { count: 1, why: 'no process was running', isSkipped: false } },
  ],
  [
    'with "once" it gets one, and the others get none',
    [
      { cron: '', missed: 'once' },
      { now: LATE, due: three, exists: false, isRunning: false },
    ],
    { fires: true, missed: { count: 2, why: 'no process was running', isSkipped: false } },
  ],
  [
    'no run starts beside another',
    [{ cron: '' }, { now: ON_TIME, due: one, exists: false, isRunning: true }],
    { fires: false, missed: { count: 1, why: 'the run before it had not ended', isSkipped: true } },
  ],
  [
    'a run that already exists counts as the run of its time',
    [{ cron: '' }, { now: LATE, due: one, exists: true, isRunning: false }],
    { fires: true },
  ],
];

for (const [promise, given, expected] of TABLE) test(promise, () => assert.deepEqual(scheduleStep(...given), expected));
