/**
 * Lines of `bus/<channel>.jsonl`: one note each. The channel is the file's name and not part of a
 * line. A person may add a line by hand, as short as `{"text": "…"}`. An unreadable line is
 * reported, and the other lines are still read.
 */
import { attempt } from '../../domain/attempt.js';
import { defined } from '../../domain/defined.js';
import { hash53 } from '../../domain/task/id.js';
import { NOTE_PRIORITIES, type Note, type NoteBody, type NotePriority } from '../../domain/coordination/note.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';
import { parseJson } from '../lines/json.js';
import { isMapping } from '../../domain/mapping.js';

/** Longer lines are neither written nor read. */
export const MAX_NOTE_LINE = 1024 * 1024;

/**
 * One line without its newline; absent fields are left out. Built in one expression, because
 * concatenating pieces would copy the text twice.
 */
export function printNote({ id, at, from, priority, to, task, root, taint, expires, body }: Note): string {
  return JSON.stringify({ id, at, from, priority, to, task, root, taint, expires, body });
}

type NoteRead = { ok: true; note: Note } | { ok: false; problem: Problem };

interface LinePlace {
  channel: string;
  file: string;
  line: number;
  /** For lines without a time. */
  at: string;
}

export function readNote(text: string, place: LinePlace): NoteRead {
  const { file, line } = place;
  const no = (code: Problem['code'], message: string, column?: number): NoteRead => {
    const where = { file, line, ...(column === undefined ? {} : { column, source: text.slice(0, 200) }) };
    return { ok: false, problem: problem(code, message, { where, hint: FIX_LINE }) };
  };
  if (text.length > MAX_NOTE_LINE) return no('over_limit', `this line has ${text.length} characters`);
  if (text.includes('\0')) return no('bad_file', 'this line was torn when the power failed');
  let value = quickly(text);
  if (value === undefined) {
    const json = parseJson(text, file);
    if (!json.ok) return no('bad_file', json.problem.message, json.problem.where?.column);
    value = json.value;
  }
  if (!isMapping(value)) return no('bad_field', 'a note is a JSON object', 1);
  const body = bodyOf(value);
  if (body === undefined) return no('bad_field', 'this note has no text', 1);
  return { ok: true, note: noteOf(value, body, text, place) };
}

const FIX_LINE = 'fix the line or remove it: the other lines are read';

function quickly(text: string): unknown {
  // If it is not JSON, the strict parser reports the problem.
  return attempt(() => JSON.parse(text));
}

function noteOf(line: Record<string, unknown>, body: NoteBody, text: string, { channel, at }: LinePlace): Note {
  const textOf = (name: string): string | undefined => {
    const value = line[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return defined<Note>({
    id: textOf('id') ?? `hand-${hash53(text)}`,
    channel,
    from: textOf('from') ?? HUMAN,
    at: timeOf(textOf('at')) ?? at,
    priority: priorityOf(line['priority']),
    to: textOf('to'),
    task: textOf('task'),
    root: textOf('root'),
    taint: Array.isArray(line['taint']) ? line['taint'].map(String) : undefined,
    expires: timeOf(textOf('expires')),
    body,
  });
}

function bodyOf(line: Record<string, unknown>): NoteBody | undefined {
  const { body } = line;
  const text = line['text'] ?? line['message'];
  if (isMapping(body) && typeof body['type'] === 'string') return body as unknown as NoteBody;
  const message = typeof body === 'string' ? body : text;
  return typeof message === 'string' && message.trim() !== '' ? { type: 'said', text: message } : undefined;
}

function priorityOf(value: unknown): NotePriority {
  return NOTE_PRIORITIES.find((priority) => priority === value) ?? 'normal';
}

/** In the format that this program writes, so that times can be compared as text. */
function timeOf(value: string | undefined): string | undefined {
  if (value === undefined || OURS.test(value)) return value;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

const OURS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
