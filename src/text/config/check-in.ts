/**
 * `storage/planner-checkin.yaml`. People change the interval in it and read the rest; the program changes values in place, so that
 * comments, order and keys of others stay.
 */
import { CHECK_IN_SECONDS, type CheckInNote } from '../../domain/coordination/check-in.js';
import { problem, type Problem } from '../../domain/problem.js';
import { loadYaml, wholeFile, YamlPlaces } from '../yaml/parse.js';

export function parseCheckIn(text: string, file: string): { note: CheckInNote } | { problem: Problem } {
  const source = wholeFile(file, text);
  const yaml = loadYaml(source);
  if (!yaml.ok) return { problem: yaml.problem };
  const places = new YamlPlaces(source);
  const given = yaml.value ?? {};
  if (typeof given !== 'object' || Array.isArray(given))
    return { problem: problem('bad_field', 'this file must be a mapping', { where: places.value([]), hint: HINT }) };
  const fields = given as Record<string, unknown>;
  const bad = (key: string, what: string): { problem: Problem } => ({
    problem: problem('bad_field', `${key} must be ${what}`, { where: places.value([key]), hint: HINT }),
  });
  const last = fields['last_checkin'] ?? undefined;
  if (last !== undefined && (typeof last !== 'string' || Number.isNaN(Date.parse(last))))
    return bad('last_checkin', 'a time');
  const interval = fields['interval_seconds'] ?? CHECK_IN_SECONDS;
  if (typeof interval !== 'number' || !(interval > 0)) return bad('interval_seconds', 'a number above 0');
  const count = fields['checkin_count'] ?? 0;
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0) return bad('checkin_count', 'a whole number');
  const note: CheckInNote = { intervalSeconds: interval, count };
  if (last !== undefined) note.lastCheckin = new Date(last).toISOString();
  if (typeof fields['planner_session'] === 'string') note.plannerSession = fields['planner_session'];
  if (typeof fields['last_reason'] === 'string') note.lastReason = fields['last_reason'];
  return { note };
}

const HINT = 'no check-in is made until this is mended; without the file everything begins anew';

/** The text with these values in it; undefined if they cannot be put in without breaking something. */
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
