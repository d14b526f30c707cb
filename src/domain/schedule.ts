/**
 * When a task runs again and again: five fields of cron and a time zone. A task with a schedule is
 * never done itself; each due time creates another task, a run. The id of a run follows from
 * the schedule and the time, so no time gets two runs, whichever process or machine decides.
 */
export interface Schedule {
  cron: string;
  /** IANA name; absent: the zone of the machine that plans the first run, which is then kept. */
  timezone?: string;
  /** `once`: the last missed run takes place late. Absent: missed runs are only reported. */
  missed?: 'once';

  // Written by the program
  /** The last due time that was decided on, whatever was decided. */
  last?: string;
  /** The last run. */
  run?: string;
  /** Cron and zone for which the next time was computed; a person may have changed them since. */
  planned?: string;
  /** The last fault, for people. */
  note?: string;
}

/** A run, and the due time that it belongs to. */
interface Scheduled {
  by: string;
  at: string;
}

export function scheduledOf({ context }: { context: Record<string, unknown> }): Scheduled | undefined {
  const scheduled = context['scheduled'] as Partial<Scheduled> | undefined;
  return typeof scheduled?.by === 'string' && typeof scheduled.at === 'string' ? (scheduled as Scheduled) : undefined;
}

export function ruleText({ cron, timezone = '' }: Pick<Schedule, 'cron' | 'timezone'>): string {
  return `${cron} ${timezone}`.trim();
}

const NAMED = new Set(['@hourly', '@daily', '@weekly', '@monthly', '@yearly']);
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const DAYS = 'sun mon tue wed thu fri sat'.split(' ');
const FIELDS = [
  { name: 'a minute', min: 0, max: 59, names: [] as string[] },
  { name: 'an hour', min: 0, max: 23, names: [] as string[] },
  { name: 'a day of the month', min: 1, max: 31, names: [] as string[] },
  { name: 'a month', min: 1, max: 12, names: MONTHS },
  { name: 'a day of the week', min: 0, max: 7, names: DAYS },
];
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The fault of this text as a schedule; undefined if there is none. */
export function cronFault(text: string): string | undefined {
  if (NAMED.has(text)) return undefined;
  if (text.startsWith('@')) return `${JSON.stringify(text)} is not one of ${[...NAMED].join(', ')}`;
  const parts = text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length)
    return `a schedule has five fields (minute, hour, day of the month, month, day of the week), not ${text.trim() === '' ? 0 : parts.length}`;
  const values: (number[] | string)[] = parts.map((part, i) => valuesOf(part, FIELDS[i]!));
  const fault = values.find((value) => typeof value === 'string');
  if (fault !== undefined) return fault;
  const [, , days, months] = values as number[][];
  const isEveryWeekday = parts[4] === '*';
  if (isEveryWeekday && months!.every((month) => days!.every((day) => day > DAYS_IN_MONTH[month - 1]!)))
    return `day ${parts[2]} of month ${parts[3]} never comes`;
  return undefined;
}

/** The values that one field allows, or what is wrong with it. */
function valuesOf(part: string, { name, min, max, names }: (typeof FIELDS)[number]): number[] | string {
  const number = (word: string): number => {
    const at = names.indexOf(word.toLowerCase());
    return at >= 0 ? at + min : /^\d{1,2}$/.test(word) ? Number(word) : NaN;
  };
  const all: number[] = [];
  for (const item of part.split(',')) {
    const match = /^(\*|[A-Za-z0-9]+(?:-[A-Za-z0-9]+)?)(?:\/(\d{1,2}))?$/.exec(item);
    const [, range = '', step = '1'] = match ?? [];
    const [from = NaN, to = from] = range === '*' ? [min, max] : range.split('-').map(number);
    const isStepped = match?.[2] !== undefined;
    const isValid = from >= min && to <= max && to >= from && Number(step) > 0 && Number(step) <= max;
    if (isStepped && isValid && from === to)
      return `${JSON.stringify(item)} needs a range to step through: write */${step} or ${from}-${max}/${step}`;
    if (!isValid) return `${JSON.stringify(item)} is not ${name} (${min} to ${max})`;
    for (let value = from; value <= to; value += Number(step)) all.push(value);
  }
  return all;
}

export function zoneFault(timezone: string): string | undefined {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone });
    return undefined;
  } catch {
    return `${JSON.stringify(timezone)} is not a time zone; write one such as Europe/Berlin`;
  }
}
