/** `guild schedule`: what runs when, and when a schedule would be due. */
import {
  defaultZone,
  listSchedules,
  localZone,
  previewSchedule,
  type ScheduleView,
} from '../../../app/doors/schedules.js';
import { problemError } from '../../../domain/problem.js';
import { dateTimeIn, localDateTime, withLocalTimes } from '../../../views/local-time.js';
import { EXIT, text, unknownWord, type Call, type Command } from '../../args/command.js';
import { tableRows } from '../../render/layout.js';
import type { Terminal } from '../../render/terminal.js';

export const command: Command = {
  usage: [
    ['schedule', 'list schedules: when each is due next, its last run, and missed runs'],
    ['schedule test <schedule>', 'print the next five times at which a schedule would be due'],
  ],
  about: `
A task with "schedule" in its file, a board line with schedule: "0 9 * * 1", and each entry of "schedules" in guild.yaml is a
schedule. guild watch and guild pump create a task for each due time. Due times that passed while nothing
was running are only reported.

  guild task add --to planner --schedule "0 9 * * 1" "Write the weekly report"
  guild task cancel <id>   ends a schedule`,
  options: {
    timezone: {
      type: 'string',
      value: 'ZONE',
      about: 'test: the time zone, such as Europe/Berlin (default: this machine’s)',
    },
  },
  maxWords: 2,
  async run(call) {
    const [verb, cron] = call.words;
    if (verb === 'list' || verb === undefined) return list(call);
    if (verb !== 'test') throw unknownWord('schedule', verb, ['list', 'test']);
    if (cron === undefined)
      throw problemError('bad_usage', 'guild schedule test needs a schedule', {
        hint: 'guild schedule test "0 9 * * 1"',
      });
    return test(call, cron);
  },
};

async function list({ root, terminal, json }: Call): Promise<number> {
  const all = await listSchedules(root);
  if (json) {
    terminal.json(all.map(({ runState, ...rest }) => ({ ...rest, ...(runState ? { run_state: runState } : {}) })));
    return EXIT.done;
  }
  const rows = all.map((each) => rowOf(each, terminal));
  for (const line of tableRows(rows, terminal.width, [0, 1, 2]).flat()) terminal.out(line);
  for (const { id, missed } of all)
    if (missed !== undefined) terminal.say(terminal.colour('yellow', withLocalTimes(`${id}: ${missed}`)));
  const none =
    'no schedules yet; guild pump and guild watch read new ones (guild schedule --help shows how to make one)';
  if (all.length === 0) terminal.say(terminal.dim(none));
  return EXIT.done;
}

function rowOf({ id, schedule, timezone, next, runState, ...rest }: ScheduleView, terminal: Terminal): string[] {
  const when = `${schedule}${timezone === localZone() ? '' : ` ${timezone}`}`;
  const due = next === undefined ? 'not planned yet' : `next ${localDateTime(next)}`;
  const last = rest.last === undefined ? '' : `last run ${localDateTime(rest.last)} ${runState ?? 'removed'}`;
  const about = [rest.to, rest.description.split('\n', 1)[0]].filter(Boolean).join(' ');
  return [terminal.bold(id), when, due, [about, last].filter(Boolean).join('; ')];
}

async function test({ root, values, terminal, json }: Call, cron: string): Promise<number> {
  const zone = text(values, 'timezone') ?? defaultZone(root);
  const times = await previewSchedule(root, cron, zone);
  if (json) terminal.json({ schedule: cron, timezone: zone, next: times.map((at) => at.toISOString()) });
  else for (const at of times) terminal.out(dateTimeIn(zone, at.toISOString()));
  return EXIT.done;
}
