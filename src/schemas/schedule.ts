/** The parts of a schedule, in task files and in `guild.yaml`. */
import { cronFault, zoneFault } from '../domain/schedule.js';
import { named } from './about.js';
import * as z from './zod.js';

export const cron = named('schedule', checked('a schedule such as "0 9 * * 1"', cronFault));

export const timezone = named('time zone', checked('a time zone such as Europe/Berlin', zoneFault));

export const missed = z.enum(['report', 'once'], { error: 'report or once' });

function checked(what: string, fault: (text: string) => string | undefined) {
  return z.string({ error: what }).check(
    z.superRefine((value, context) => {
      const message = fault(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message, params: { rule: {} } });
    }),
  );
}
