/**
 * Lines of `inbox/*.jsonl`. Many bridges and scripts write them, so several names of fields are
 * accepted. An unreadable line is reported, and the other lines are still read. Bytes after the
 * last newline are ignored: a writer may still be appending.
 */
import { attempt } from '../../domain/attempt.js';
import type { MailFields } from '../../domain/coordination/mail.js';
import { problem, type Problem } from '../../domain/problem.js';
import { isMapping } from '../../domain/mapping.js';
import { jsonOffset, parseJson } from '../lines/json.js';
import { whereAt } from '../lines/where.js';

const MAX_LINE_BYTES = 256 * 1024;

export interface InboxLine {
  /** 1-based, in the whole file. */
  line: number;
  /** The bytes of the line, without its newline. */
  bytes: Uint8Array;
  /** The offset of the next line. */
  end: number;
}

/** Every complete line that is not empty, from the start of a line. */
export function* inboxLines(bytes: Uint8Array, from = { offset: 0, line: 1 }): Generator<InboxLine> {
  let { offset, line } = from;
  for (; offset < bytes.length; line++) {
    const stop = bytes.indexOf(0x0a, offset);
    if (stop < 0) return;
    const own = bytes.subarray(offset, stop > offset && bytes[stop - 1] === 0x0d ? stop - 1 : stop);
    offset = stop + 1;
    if (!own.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) yield { line, bytes: own, end: offset };
  }
}

type InboxRead = { ok: true; fields: MailFields } | { ok: false; problem: Problem };

export function readInboxLine({ line, bytes }: InboxLine, file: string): InboxRead {
  const no = (code: Problem['code'], message: string, hint: string, column?: number, source?: string): InboxRead => {
    const where = {
      file,
      line,
      column,
      source,
    };
    return { ok: false, problem: problem(code, message, { where, hint }) };
  };
  if (bytes.length > MAX_LINE_BYTES) {
    const head = whereAt(file, decode(bytes.subarray(0, 80)) ?? '', 0).source ?? '';
    const message = `this line has ${bytes.length} bytes; the limit is ${MAX_LINE_BYTES}`;
    return no('over_limit', message, 'keep the bulk in a file and name it in the message', 1, `${head}…`);
  }
  const text = decode(bytes);
  if (text === undefined) return no('bad_file', 'this line is not UTF-8 text', 'write it again as UTF-8');
  const at = (offset: number): { column?: number; source?: string } => whereAt(file, text, offset);
  const json = parseJson(text, file);
  if (!json.ok) {
    const { column, source } = json.problem.where ?? {};
    return no(json.problem.code, json.problem.message, FIX_LINE, column, source);
  }
  const { column, source } = at(0);
  if (!isMapping(json.value)) return no('bad_field', 'a message is a JSON object', SHAPE, column, source);
  const fields = fieldsOf(json.value);
  // A shortened id might be the id of another message, which would then count as known.
  if (fields?.id !== undefined && fields.id.length > MAX_NAME)
    return no(
      'over_limit',
      `the id has ${fields.id.length} characters; the limit is ${MAX_NAME}`,
      SHORT_ID,
      column,
      source,
    );
  if (fields !== undefined) return { ok: true, fields };
  const named = ['text', ...TEXTS].map((name) => jsonOffset(text, [name])).find((offset) => offset !== undefined);
  const place = at(named ?? 0);
  return no('bad_field', 'this message has no text', SHAPE, place.column, place.source);
}

const FIX_LINE = 'fix the line or remove it: the other lines are read';
const SHORT_ID = 'send a shorter id, such as a hash of it';
const SHAPE = 'write at least {"from": "who", "text": "what"}';
const TEXTS = ['message', 'content', 'body'];
/** Longer names are cut: they are shown next to the text. */
const MAX_NAME = 200;

function fieldsOf(line: Record<string, unknown>): MailFields | undefined {
  const first = (...names: string[]): string | undefined => {
    for (const name of names) {
      const value = Object.hasOwn(line, name) ? textOf(line[name]) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const text = first('text', ...TEXTS);
  if (text === undefined) return undefined;
  const named = {
    id: first('id'),
    at: first('ts', 'timestamp', 'at', 'date'),
    from: first('from', 'user', 'sender'),
    channel: first('channel'),
    to: first('to', 'agent'),
    subject: first('subject'),
    thread: first('thread', 'thread_ts'),
    inReplyTo: first('in_reply_to'),
  };
  const present = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, name === 'id' ? value : value.slice(0, MAX_NAME)]],
  );
  return { text, ...(Object.fromEntries(present) as Partial<MailFields>) };
}

/** Text that is not blank. For a person who is given as an object: the name. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value === 'number') return String(value);
  if (isMapping(value)) return textOf(value['name'] ?? value['id'] ?? value['email']);
  return undefined;
}

function decode(bytes: Uint8Array): string | undefined {
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}
