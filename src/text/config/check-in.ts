/**
 * `storage/planner-checkin.yaml`. People change the interval and read the rest. The program changes
 * values in place, so that comments, the order and all other keys stay.
 */
import { CHECK_IN_SECONDS, type CheckInNote } from '../../domain/coordination/check-in.js';
import type { Problem } from '../../domain/problem.js';
import { count } from '../../schemas/amounts.js';
import { checkInYaml } from '../../schemas/check-in.js';
import { readYaml } from '../schema/read-yaml.js';
import { defined } from '../../domain/defined.js';
import { textOf } from '../schema/values.js';

export function parseCheckIn(text: string, file: string): { note: CheckInNote } | { problem: Problem } {
  const { value = {}, problems } = readYaml(checkInYaml, file, text);
  if (problems[0] !== undefined) return { problem: { hint: HINT, ...problems[0] } };
  const { last_checkin: last, interval_seconds: seconds = CHECK_IN_SECONDS } = value;
  const note = defined<CheckInNote>({
    intervalSeconds: seconds,
    count: count(value.checkin_count) ?? 0,
    lastCheckin: last === undefined ? undefined : new Date(last).toISOString(),
    plannerSession: textOf(value.planner_session),
    lastReason: textOf(value.last_reason),
  });
  return { note };
}

const HINT = 'fix it, or remove the file to start over; there are no check-ins until then';

/** The text with these values; undefined if they cannot be inserted without breaking something. */
export function editCheckIn(text: string, note: CheckInNote): string | undefined {
  const values: [string, string][] = [
    ['last_checkin', JSON.stringify(note.lastCheckin ?? null)],
    ['interval_seconds', String(note.intervalSeconds)],
    ['planner_session', word(note.plannerSession)],
    ['checkin_count', String(note.count)],
    ['last_reason', JSON.stringify(note.lastReason ?? null)],
  ];
  let edited = text;
  for (const [key, value] of values) edited = setValue(edited, key, value);
  const back = parseCheckIn(edited, '');
  return 'note' in back && JSON.stringify(ordered(back.note)) === JSON.stringify(ordered(note)) ? edited : undefined;
}

function setValue(text: string, key: string, value: string): string {
  const line = new RegExp(
    `^(${key}:)([ \\t]*)("(?:[^"\\\\\\r\\n]|\\\\.)*"|'[^'\\r\\n]*'|[^#"'\\r\\n]*?)([ \\t]*(?:#[^\\r\\n]*)?)(?=\\r?$)`,
    'm',
  );
  if (line.test(text))
    return text.replace(
      line,
      (_, name: string, gap: string, __, rest: string) => `${name}${gap || ' '}${value}${rest}`,
    );
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return `${text === '' || text.endsWith('\n') ? text : text + eol}${key}: ${value}${eol}`;
}

function word(text: string | undefined): string {
  if (text === undefined) return 'null';
  return /^[A-Za-z][\w.-]*$/.test(text) ? text : JSON.stringify(text);
}

function ordered(note: CheckInNote): unknown[] {
  return [note.lastCheckin, note.intervalSeconds, note.plannerSession, note.count, note.lastReason];
}
