/** A conversation as the page shows it: messages with their calls folded into them. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { sessionStatus, sessionText } from '../../app/far/session-text.js';
import { writtenLines } from '../../app/editing/written-lines.js';
import { farPartsOf, openReader } from '../../app/readers/open-reader.js';
import { textIn as textInFile } from '../../app/trust/text-file.js';
import { thoughtsOf } from '../../app/editing/thoughts.js';
import { defined } from '../../domain/defined.js';
import type { FileRef } from '../../domain/file-ref.js';
import { problem, ProblemError } from '../../domain/problem.js';
import {
  sessionUsage,
  type Message,
  type Session,
  type SessionHeader,
  type ToolCall,
} from '../../domain/session/session.js';
import { isSafeId } from '../../domain/task/id.js';
import { taintIn } from '../../domain/task/taint.js';
import type { Placed } from '../../domain/task/task.js';
import { summary } from '../../views/summary.js';
import type { Conversation, SessionRow, ShownCall, ShownFile, ShownMessage } from '../base/contract.js';
import { sessionFile, sessionList, SESSIONS_AT_ONCE } from '../base/sessions.js';
import type { Moment } from './moment.js';
import { checksOf, withAuthors } from './checks.js';
import { titleOf } from '../base/title.js';
import { titled, usageOf } from './rows.js';
import type { ListedTask } from './tasks.js';

const TEXT_MAX = 256 * 1024;

/** `before`: the messages up to this number, exclusive; default: the newest. */
export async function conversationOf(
  moment: Moment,
  id: string,
  before = Infinity,
  limit = 100,
): Promise<Conversation> {
  const { feed, at } = moment;
  if (!isSafeId(id)) throw new ProblemError(problem('bad_name', 'that cannot be the id of a conversation'));
  const place = sessionFile(id);
  const file = path.join(feed.root, place);
  // A separate reader: each reader reports an edit once, and the engine's reader must report it
  // too.
  const store = openReader(feed.root);
  try {
    const opened = await store.sessions.open(id);
    if (opened.kind === 'missing') throw new ProblemError(problem('not_found', `there is no conversation ${id}`));
    const text = opened.kind === 'open' ? textIn(file, opened.session) : textOf(file);
    if (opened.kind === 'held')
      return { ...held(id), place, seen: seenOf(text), problem: opened.problem, text: text.slice(0, TEXT_MAX) };
    const { header } = opened.session;
    const messages = until(opened.session.messages, at);
    const end = Math.min(before - 1, messages.length);
    const page = await withThoughts(
      withCalls(messages)
        .filter(({ n }) => n <= end)
        .slice(-limit),
      messages,
      store,
    );
    const rows = await sessionList(feed);
    const origin = await originOf(store, header, rows);
    const tasks = await tasksIn(moment, header, messages.slice(origin?.copied ?? 0));
    const placed = tasks.at(-1);
    return defined({
      id,
      agent: header.agentId,
      agentNow: await agentIn(moment, header.agentId),
      model: header.model,
      status: statusOf(at, header, placed, farPartsOf(store) !== undefined),
      first: tasks[0] && namedTask(tasks[0], tasks),
      task: placed && { ...namedTask(placed, tasks), state: placed.state, code: placed.task.error?.code },
      forkedFrom: header.forkedFrom,
      forks: await forksOf(moment, rows, id),
      files: filesIn(messages),
      taint: [...new Set(tasks.flatMap(({ task }) => taintIn(task)))],
      total: messages.length,
      from: page[0]?.n ?? 1,
      messages: await withAuthors(
        moment,
        header.agentId,
        page,
        (n) => messages[n - 1]!.task ?? startOf(header, origin, n),
      ),
      next: await nextIn(moment, id, messages),
      checks: await checksOf(moment, tasks, messages),
      usage: usageOf(sessionUsage(messages)),
      share: placed?.task.budget?.microUsd,
      place,
      seen: seenOf(text),
    });
  } finally {
    await store.close();
  }
}

/** The tasks that it worked on, in order; each later message of a person can begin one. */
async function tasksIn(moment: Moment, { task }: SessionHeader, messages: readonly Message[]): Promise<Placed[]> {
  const ids = new Set([task, ...messages.map((message) => message.task)].flatMap((id) => id ?? []));
  const tasks = await Promise.all([...ids].map((id) => moment.task(id)));
  return tasks.flatMap((each) => each ?? []);
}

/** Later attempts at the same work have the title of the first. */
function namedTask({ task: { id, parent } }: Placed, tasks: readonly Placed[]): { id: string; title: string } {
  const first = tasks.find(({ task }) => task.id === id || (parent !== undefined && task.parent === parent))!;
  return { id, title: titleOf(summary(first.task)) };
}

async function agentIn(moment: Moment, name: string): Promise<Conversation['agentNow']> {
  const { agents, roster, open } = await moment.snapshot();
  const now = agents.find(({ agent }) => agent === name);
  if (now === undefined) return undefined;
  const titles = new Map(open.map(({ task }) => [task.id, titleOf(summary(task))]));
  const why = titled(now.why, (id) => titles.get(id));
  return { state: now.state, why, description: roster.get(name)?.description ?? '' };
}

/** A conversation whose file cannot be read as one. */
function held(id: string): Omit<Conversation, 'place' | 'seen'> {
  const nothing = { forks: [], files: [], taint: [], messages: [], checks: [] };
  return { id, agent: '', status: 'held', total: 0, from: 1, usage: usageOf(undefined), ...nothing };
}

interface Origin {
  task: string | undefined;
  copied: number;
}

async function originOf(
  store: ReturnType<typeof openReader>,
  { forkedFrom = '' }: SessionHeader,
  rows: readonly SessionRow[],
): Promise<Origin | undefined> {
  const [, id, copied] = /^(.*)@(\d+)$/.exec(forkedFrom) ?? [];
  if (id === undefined || !isSafeId(id)) return undefined;
  const row = rows.find((each) => each.id === id);
  const opened = row === undefined ? await store.sessions.open(id) : undefined;
  const header = opened?.kind === 'open' ? opened.session.header : undefined;
  return { task: row?.task ?? header?.task, copied: Number(copied) };
}

/** The task of the conversation in which message `n` was first said. */
function startOf({ task }: SessionHeader, origin: Origin | undefined, n: number): string | undefined {
  return origin === undefined || n > origin.copied ? task : origin.task;
}

/** The message of a pending task of this conversation, unless the conversation already has it. */
async function nextIn(moment: Moment, id: string, messages: readonly Message[]): Promise<Conversation['next']> {
  const { open } = await moment.snapshot();
  const pending = open.find(({ task, state }) => task.session === id && state === 'pending')?.task;
  if (pending === undefined) return undefined;
  const isSaid = messages.some(({ role, content }) => role === 'user' && content === pending.description);
  return isSaid ? undefined : { text: pending.description, at: pending.created_at };
}

/** In a shared store there may be no file; then its text is the one that a mirror would show. */
function textIn(file: string, session: Session): string {
  return fs.existsSync(file) ? textOf(file) : sessionText(session);
}

/** The messages that were there at a moment of the past. */
export function until(messages: readonly Message[], at: string | undefined): readonly Message[] {
  if (at === undefined) return messages;
  const end = messages.findIndex(({ timestamp }) => timestamp !== undefined && timestamp > at);
  return end === -1 ? messages : messages.slice(0, end);
}

function filesIn(messages: readonly Message[]): string[] {
  const paths = messages.flatMap(({ toolCalls = [] }) =>
    toolCalls.flatMap(({ name, arguments: args }) =>
      (name === 'write_file' || name === 'create_directory') && typeof args['path'] === 'string' ? [args['path']] : [],
    ),
  );
  return [...new Set(paths)];
}

/**
 * The current status comes from the file. For a past moment, and in a shared store, it is derived
 * from the task.
 */
function statusOf(
  at: string | undefined,
  header: SessionHeader,
  placed: Placed | undefined,
  isShared: boolean,
): Conversation['status'] {
  if (placed === undefined) return header.status;
  if (at !== undefined) return placed.state;
  return isShared ? sessionStatus(placed) : header.status;
}

/** From the newest conversations, and from the tasks of older ones, oldest first. */
async function forksOf(moment: Moment, rows: readonly SessionRow[], id: string): Promise<Conversation['forks']> {
  const forks = rows.flatMap((row) => {
    const [, origin, at] = /^(.*)@(\d+)$/.exec(row.forkedFrom ?? '') ?? [];
    return origin === id ? [{ id: row.id, at: Number(at) }] : [];
  });
  if (rows.length < SESSIONS_AT_ONCE) return forks.reverse();
  const known = new Set(forks.map((fork) => fork.id));
  const older = (await moment.tasks('')).flatMap(({ session, forkedFrom }) =>
    session === undefined || forkedFrom?.session !== id || known.has(session)
      ? []
      : [{ id: session, at: forkedFrom.at }],
  );
  return [...forks, ...older].reverse();
}

/**
 * The newest conversations after the first `from`, with the title of their first task and the state
 * of their last.
 */
export async function conversationsOf(moment: Moment, from: number): Promise<SessionRow[]> {
  const { feed, at, whole } = moment;
  const all = await moment.tasks('');
  const tasks = new Map(all.map((task) => [task.id, task]));
  const last = new Map<string, ListedTask>();
  for (const task of all) {
    const { session = '', createdAt } = task;
    if (createdAt >= (last.get(session)?.createdAt ?? '')) last.set(session, task);
  }
  const later = new Set(
    at === undefined
      ? []
      : whole.events((name) => name === 'session.created').flatMap((event) => (event.at > at ? event['session'] : [])),
  );
  return (await sessionList(feed, from))
    .filter(({ id }) => !later.has(id))
    .map((row) => {
      const first = tasks.get(row.task ?? '');
      const { state, code } = last.get(row.id) ?? first ?? {};
      return defined({ ...row, title: first?.title ?? row.title, state, code });
    });
}

export function textOf(file: string): string {
  return attempt(() => textInFile(file, MAX_TEXT_BYTES)) ?? '';
}

const MAX_TEXT_BYTES = 64 * 1024 * 1024;

export function seenOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Results become part of the call that they answer; every other message stands alone. */
function withCalls(messages: readonly Message[]): ShownMessage[] {
  const shown: ShownMessage[] = [];
  const calls = new Map<string, ShownCall>();
  const texts = new Map<string, string>();
  let turn = 0;
  for (const [i, message] of messages.entries()) {
    const call = message.role === 'tool' ? calls.get(message.toolCallId ?? '') : undefined;
    if (call !== undefined) {
      call.result = message.content;
      call.ok = message.isError !== true;
      if (message.files !== undefined) call.files = message.files.map(fileOf);
      continue;
    }
    const mine = (message.toolCalls ?? []).map((each) => callOf(each, texts));
    for (const each of mine) calls.set(each.id, each);
    if (message.role === 'assistant') turn++;
    shown.push(
      defined({
        n: i + 1,
        role: message.role,
        from: message.from,
        kind: message.kind,
        turn: message.role === 'assistant' ? turn : undefined,
        at: message.timestamp,
        text: message.content,
        tainted: message.role === 'tool',
        calls: mine,
        files: message.files?.map(fileOf),
        usage: message.usage,
      }),
    );
  }
  return shown;
}

async function withThoughts(
  shown: readonly ShownMessage[],
  messages: readonly Message[],
  { blobs }: ReturnType<typeof openReader>,
): Promise<ShownMessage[]> {
  return Promise.all(
    shown.map(async (message) => defined({ ...message, thoughts: await thoughtsOf(messages[message.n - 1]!, blobs) })),
  );
}

function fileOf({ name, mediaType, bytes }: FileRef): ShownFile {
  return { name, mediaType, bytes };
}

const TELLING = ['command', 'path', 'agent', 'query', 'question', 'recipient', 'name', 'task', 'title'];

/** `texts`: the last text that this conversation wrote to each file. */
function callOf({ id, name, arguments: args }: ToolCall, texts: Map<string, string>): ShownCall {
  const main = TELLING.map((key) => args[key]).find((value) => typeof value === 'string') ?? '';
  const call = { id, tool: name, arguments: JSON.stringify(args, null, 2), main: titleOf(main) };
  const { path: file, content } = args;
  if (name !== 'write_file' || typeof file !== 'string' || typeof content !== 'string') return call;
  const changes = writtenLines(texts.get(file), content);
  texts.set(file, content);
  return { ...call, written: { path: file, changes } };
}
