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
  if (typeof body === 'string') return no('bad_field', body, 1);
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

/** The body, or what is wrong with it. Readers rely on the fields of its type. */
function bodyOf(line: Record<string, unknown>): NoteBody | string {
  const { body } = line;
  if (isMapping(body) && typeof body['type'] === 'string') {
    const fields = Object.hasOwn(FIELDS, body['type']) ? FIELDS[body['type'] as NoteBody['type']] : undefined;
    if (fields === undefined) return `${JSON.stringify(body['type'].slice(0, 60))} is not a type of note`;
    const wrong = Object.entries(fields).find(([key, is]) => !is(body[key]));
    if (wrong !== undefined) return `a note of type "${body['type']}" needs a valid "${wrong[0]}"`;
    return body as unknown as NoteBody;
  }
  const message = typeof body === 'string' ? body : (line['text'] ?? line['message']);
  const isText = typeof message === 'string' && message.trim() !== '';
  return isText ? { type: 'said', text: message } : 'this note has no text';
}

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isFlag: Check = (value) => typeof value === 'boolean';
const areTexts: Check = (value) => Array.isArray(value) && value.every(isText);

/** The fields that readers use without looking whether they are there. */
const FIELDS: Readonly<Record<NoteBody['type'], Readonly<Record<string, Check>>>> = {
  said: { text: isText },
  state_change: { agent: isText, fromState: isText, toState: isText, reason: isText },
  dependency_request: { requester: isText, dependency: isText, dependencyType: isText, requirements: isMapping },
  dependency_offer: { dependency: isText, provider: isText, fitness: isNumber },
  dependency_award: { dependency: isText, requester: isText, provider: isText, why: isText },
  dependency_resolution: { provider: isText, requester: isText, dependency: isText, resolution: isMapping },
  help_request: { requester: isText, taskContext: isText, requiredCapabilities: areTexts },
  help_answer: { helper: isText, requester: isText, accepted: isFlag, why: isText },
  completion_probe: { peer: isText, root: isText, ballot: isNumber },
  completion_vote: { peer: isText, root: isText, ballot: isNumber, ready: isFlag },
  deadlock: { cycle: areTexts, victim: isText, rule: isText, cancelled: isText },
};

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
