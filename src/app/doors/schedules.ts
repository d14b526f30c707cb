/** The schedules of a workspace as people see them: what runs when, and what went wrong last. */
import { disk as realDisk } from '../../adapters/disk/index.js';
import { schedules } from '../../adapters/schedules/index.js';
import { cronFault, zoneFault, type Schedule } from '../../domain/schedule.js';
import { compareText } from '../../domain/order.js';
import { problemError } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { openReader } from '../readers/open-reader.js';
import { readConfig } from '../readers/read-config.js';

export interface ScheduleView {
  id: string;
  schedule: string;
  timezone: string;
  to?: string;
  description: string;
  /** ISO times. */
  next?: string;
  last?: string;
  run?: string;
  runState?: string;
  missed?: string;
}

/** The soonest first. */
export async function listSchedules(root: string): Promise<ScheduleView[]> {
  const store = openReader(root);
  try {
    await store.tasks.scan();
    const zone = defaultZone(root);
    const all: ScheduleView[] = [];
    for (const { task } of store.tasks.open()) {
      if (!roleFacts(task.role).isSchedule) continue;
      const run = task.schedule!.run === undefined ? undefined : await store.tasks.read(task.schedule!.run);
      all.push(viewOf(task, task.schedule!, run, zone));
    }
    return all.sort((a, b) => compareText(a.next ?? '', b.next ?? ''));
  } finally {
    await store.close();
  }
}

function viewOf(
  task: Task,
  { cron, timezone, run, last, note }: Schedule,
  ran: Placed | undefined,
  zone: string,
): ScheduleView {
  const view: ScheduleView = {
    id: task.id,
    schedule: cron,
    timezone: timezone ?? zone,
    description: task.description,
  };
  if (task.to !== undefined) view.to = task.to;
  if (task.waits?.until !== undefined) view.next = task.waits.until;
  // Later due times may have been left out.
  const { at } = (ran?.task.context['scheduled'] ?? {}) as { at?: string };
  if (run !== undefined && last !== undefined) Object.assign(view, { last: at ?? last, run });
  if (ran !== undefined) view.runState = ran.state;
  if (note !== undefined) view.missed = note;
  return view;
}

/** The next due times of a schedule that need not exist. */
export async function previewSchedule(root: string, cron: string, timezone: string): Promise<Date[]> {
  const fault = cronFault(cron) ?? zoneFault(timezone);
  if (fault !== undefined) throw problemError('bad_usage', fault, { hint: EXAMPLE });
  const { next } = schedules({ root, disk: realDisk() });
  const times: Date[] = [];
  for (let at = await next({ cron, timezone }, new Date()); at !== undefined && times.length < SHOWN;)
    at = (times.push(at), await next({ cron, timezone }, at));
  return times;
}

const SHOWN = 5;
const EXAMPLE = 'for example: guild schedule test "0 9 * * 1" --timezone Europe/Berlin';

export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The time zone of schedules that name none. */
export function defaultZone(root: string): string {
  return readConfig(realDisk(), root, process.env).config.timezone ?? localZone();
}
