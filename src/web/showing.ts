/**
 * The view for guests. A read-only window and an exported run leave out text from outside:
 * results of tools, messages of others, and the words of tasks that came from outside.
 */
import { literalPattern } from '../domain/literal-pattern.js';
import { problem, ProblemError } from '../domain/problem.js';
import type { Conversation, ShownCall, UndoPreview } from './base/contract.js';
import type { Redaction } from './redact.js';

const LEFT_OUT = '[text from outside, not shown]';

/** The tasks that came from outside: their ids, and their titles wherever a text names them. */
interface Outside {
  ids: ReadonlySet<string>;
  /** Undefined if there is none. */
  titles: RegExp | undefined;
  /** Titles in the person's words, whatever influenced the work later. */
  own: ReadonlySet<string>;
}

interface Tasked {
  id: string;
  title: string;
  taint?: readonly string[] | undefined;
  isOwn?: boolean | undefined;
}

/** A shorter title is an ordinary word, which would be cut out of every text. */
const TITLE_MIN = 4;

export function outsideOf(tasks: readonly Tasked[]): Outside {
  const tainted = tasks.filter(({ taint = [] }) => taint.length > 0);
  const own = new Set(tasks.flatMap(({ title, isOwn }) => (isOwn === true ? [title] : [])));
  const foreign = tainted.filter(({ title }) => !own.has(title));
  const titles = [...new Set(foreign.map(({ title }) => title.replace(/…$/, '')))]
    .filter(({ length }) => length >= TITLE_MIN)
    .sort((a, b) => b.length - a.length)
    .map(literalPattern);
  const ids = new Set(tainted.map(({ id }) => id));
  return { ids, own, titles: titles.length === 0 ? undefined : new RegExp(titles.join('|'), 'g') };
}

export function forGuests(value: unknown, outside: Outside): unknown {
  if (typeof value === 'string') return outside.titles === undefined ? value : value.replace(outside.titles, LEFT_OUT);
  if (Array.isArray(value)) return value.map((each) => forGuests(each, outside));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  const isOutside = typeof fields['id'] === 'string' ? outside.ids.has(fields['id']) : isTainted(fields);
  const isLeftOut = (key: string, text: string): boolean =>
    (isOutside && WORDS.has(key) && !outside.own.has(text) && !OURS.test(text)) ||
    (key === 'text' && 'source' in fields);
  return Object.fromEntries(
    Object.entries(fields).map(([key, each]) => [
      key,
      typeof each === 'string' && isLeftOut(key, each) ? LEFT_OUT : forGuests(each, outside),
    ]),
  );
}

/** The words of a task itself. The agent's work on it is the agent's own text. */
const WORDS: ReadonlySet<string> = new Set(['title', 'description', 'result']);

/** Titles that the program gives. */
const OURS = /^Attempt \d+$/;

function isTainted({ taint }: Record<string, unknown>): boolean {
  return Array.isArray(taint) && taint.length > 0;
}

export function talkForGuests(talk: Conversation, hide: Redaction): Conversation {
  const { text: _, next, ...rest } = talk;
  const isOutside = talk.taint.length > 0;
  return {
    ...rest,
    ...(next === undefined ? {} : { next: isOutside ? { ...next, text: LEFT_OUT } : next }),
    messages: talk.messages.map(({ thoughts: _thoughts, files: _files, ...message }) => ({
      ...message,
      text: message.tainted || (isOutside && message.role === 'user') ? LEFT_OUT : message.text,
      calls: message.calls.map(hide.call).map(withoutResult),
    })),
  };
}

/** Files may contain anything. */
export function undoForGuests({ to, files }: UndoPreview): UndoPreview {
  return { to, files: files.map(({ lines: _, ...file }) => file) };
}

function withoutResult({ files: _, ...call }: ShownCall): ShownCall {
  return call.result === undefined ? call : { ...call, result: LEFT_OUT };
}

/**
 * The columns by which guests may filter tasks. Columns with free text are left out, because guests
 * could guess their words.
 */
const COLUMNS = ['state', 'to', 'role', 'parent', 'created_at', 'ended_at', 'error.code'];
const KEYWORDS = ['and', 'or', 'not', 'in', 'is', 'null', 'like', 'between', 'order', 'by', 'asc', 'desc', 'limit'];

export function checkGuestQuery(where: string): void {
  const words = where.replace(/'(?:[^']|'')*'/g, ' ').match(/[^\s,()=<>!\d][^\s,()=<>!]*/g) ?? [];
  const unknown = words.find((word) => !COLUMNS.includes(word.toLowerCase()) && !KEYWORDS.includes(word.toLowerCase()));
  if (unknown === undefined) return;
  throw new ProblemError(
    problem('not_allowed', `this window is read-only: a query here cannot use ${JSON.stringify(unknown)}`, {
      hint: `use ${COLUMNS.join(', ')}`,
    }),
  );
}
