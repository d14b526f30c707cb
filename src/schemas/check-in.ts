/** `storage/planner-checkin.yaml`: when the planner last checked in, and how often it does. */
import { CHECK_IN_SECONDS } from '../domain/coordination/check-in.js';
import { at, mapping, text, whole } from './values.js';
import { key } from './about.js';
import * as z from './zod.js';

const time = z
  .string({ error: 'a time' })
  .check(z.refine((value) => !Number.isNaN(Date.parse(value)), { error: 'a time' }));

export const checkInYaml = z.looseObject(
  {
    last_checkin: key(time, 'When the planner was last asked.', {
      default: 'the planner has not been asked yet',
      example: '"2026-01-31T09:00:00.000Z"',
    }),
    interval_seconds: key(
      z.number({ error: 'a number above 0' }).check(z.gt(0)),
      'The shortest time between two check-ins, in seconds.',
      at(CHECK_IN_SECONDS),
    ),
    planner_session: key(text, 'The file name of the conversation of the last check-in.', {
      example: 'planner-checkin-3.session.yaml',
    }),
    checkin_count: key(whole(), 'How many check-ins there were.', at(0)),
    last_reason: key(text, 'Why the last check-in was made.', {
      example: '"65s since last check-in (threshold: 60s)"',
    }),
  },
  mapping,
);
