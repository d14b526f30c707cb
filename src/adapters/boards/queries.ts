/**
 * Runs queries on boards and on the workspace's tables. A board is edited as text and written back
 * only if the file still has the bytes that were read, because a person may be editing it.
 */
import path from 'node:path';
import { problem, type Problem, ProblemError, problemError } from '../../domain/problem.js';
import { ENDED_STATES, type EndedState } from '../../domain/task/task.js';
import type { Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import { rowsToBoard } from '../../text/board/into.js';
import { lintBoard } from '../../text/board/lint.js';
import type { BoardProblem } from '../../text/board/parse.js';
import { queryBoard } from '../../text/board/query.js';
import { unknownColumn } from '../../text/query/columns.js';
import {
  canMatch,
  evaluate,
  parseQuery,
  pick,
  type Query,
  type Row,
  type Select,
  select,
  type Table,
} from '../../text/query/query.js';
import { keysOf } from '../../text/query/table.js';
import { fieldsOf } from '../../text/query/where.js';
import { stateColumns } from '../../text/records/task-row.js';
import { TABLES } from './tables.js';

export type { BoardProblem } from '../../text/board/parse.js';
export type { Row } from '../../text/query/query.js';

/** The ended tasks that a query can select. */
export interface WantedTasks {
  states: readonly EndedState[];
  /** At most this many of them. */
  limit?: number | undefined;
  /** The query only counts, grouped by columns that follow from the state of a task. */
  isCount: boolean;
  /**
   * The part of a row that the query uses; undefined: the row does not match. A source that reads
   * very many rows keeps only these parts.
   */
  keep(row: Row): Row | undefined;
}

/** Tables besides boards. Each is loaded only if a query names it. */
export interface Sources {
  /**
   * Returns all open tasks, and at least the ended tasks that are `wanted`; if absent, all ended
   * tasks.
   */
  tasks(wanted?: WantedTasks): Promise<Table>;
  sessions(): Promise<Table>;
  agents(): Promise<Table>;
  events(): Promise<Table>;
}

interface BoardsAt {
  root: string;
  sources: Sources;
  disk: Disk;
  ids: Ids;
}

export interface QueryOptions {
  /** Allows UPDATE and DELETE without WHERE, for every task. */
  all?: boolean;
  /** Allows INTO to replace a file. */
  force?: boolean;
}

export interface QueryReply {
  kind: Query['kind'];
  rows: Row[];
  /** The columns that a SELECT names; absent for `*`. */
  columns?: string[];
  message: string;
  /** Entries of the board that were left out. */
  problems: BoardProblem[];
  /** The file that was written, relative to the workspace. */
  written?: string;
}

/** Throws a ProblemError if the query cannot be run; then nothing was changed. */
export async function runQuery(text: string, at: BoardsAt, options: QueryOptions = {}): Promise<QueryReply> {
  const parsed = parseQuery(text);
  if (!parsed.ok) throw new ProblemError(parsed.problem);
  return runParsed(parsed.query, at, options);
}

/** Like `runQuery`, for a query that is already parsed. */
export async function runParsed(query: Query, at: BoardsAt, options: QueryOptions = {}): Promise<QueryReply> {
  const isTable = Object.hasOwn(TABLES, query.from);
  const reply = isTable ? await onTable(query, at) : await onBoard(query, at, options);
  if (query.kind !== 'select') return reply;
  if (query.into === undefined) return query.fields ? { ...reply, columns: query.fields } : reply;
  await save(query.into, reply.rows, at, options);
  return { ...reply, message: `Saved tasks into ${query.into}`, written: query.into };
}

/** Everything wrong or doubtful in one board. Throws a ProblemError if it cannot be read. */
export function lintFile(file: string, at: { root: string; disk: Disk }): BoardProblem[] {
  const read = readText(at.disk, path.resolve(at.root, file), file);
  if (!read) throw new ProblemError(missing(file));
  return lintBoard(read.text, file);
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_TRIES = 20;

async function onTable(query: Query, at: BoardsAt): Promise<QueryReply> {
  const { from } = query;
  if (query.kind !== 'select') {
    fail(
      'bad_usage',
      `${from} can only be read by a query`,
      'change tasks with guild task; to change a board, name its file in the query',
    );
  }
  const table = from as keyof Sources;
  const all = await (table === 'tasks' ? at.sources.tasks(wantedTasks(query)) : at.sources[table]());
  const unknown = unknownColumn(query, all, TABLES[table]);
  if (unknown) throw new ProblemError(unknown);
  const rows = select(query, all);
  return { kind: 'select', rows, message: `${rows.length} rows from ${from}`, problems: [] };
}

/** A column that only some rows have is looked for in all of them. */
function wantedTasks(query: Select): WantedTasks | undefined {
  const { where, fields = [], orderBy, limit, count } = query;
  const known: readonly string[] = TABLES.tasks;
  const named = [...fields, ...fieldsOf(where), ...orderBy.map(({ field }) => field)];
  if (!named.every((field) => known.includes(field.split('.')[0]!))) return undefined;
  const states = ENDED_STATES.filter((state) => where === undefined || canMatch(where, stateColumns(state)));
  const keys = fields.length === 0 && !count ? undefined : keysOf(query);
  const keep = (row: Row): Row | undefined => {
    if (where !== undefined && !evaluate(where, row)) return undefined;
    return keys === undefined
      ? row
      : Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(row, key) ? [[key, row[key]]] : [])));
  };
  const isCount = count && fieldsOf(where).every((field) => Object.hasOwn(stateColumns('pending'), field));
  return { states, limit: where === undefined && orderBy.length === 0 && !count ? limit : undefined, isCount, keep };
}

/** A SELECT whose rows need not be kept: they are read again each time they are asked for. */
export interface RowStream {
  columns?: string[];
  rows(): AsyncIterable<Row>;
}

/** Undefined: the query has to be run as a whole. */
export async function streamQuery(
  text: string,
  inPages: (wanted: WantedTasks) => Promise<RowStream['rows'] | undefined>,
): Promise<RowStream | undefined> {
  const parsed = parseQuery(text);
  if (!parsed.ok || parsed.query.kind !== 'select' || parsed.query.from !== 'tasks') return undefined;
  const { count, orderBy, limit, into, fields } = parsed.query;
  if (count || orderBy.length > 0 || limit !== undefined || into !== undefined) return undefined;
  const wanted = wantedTasks(parsed.query);
  const pages = wanted && (await inPages(wanted));
  if (pages === undefined) return undefined;
  if (fields === undefined) return { rows: pages };
  return {
    columns: fields,
    async *rows() {
      for await (const row of pages()) yield pick(row, fields);
    },
  };
}

/** Reads, edits and writes the board. Starts over if the file changed in between. */
async function onBoard(query: Query, at: BoardsAt, options: QueryOptions): Promise<QueryReply> {
  const file = query.from;
  if (!file.endsWith('.md')) {
    fail(
      'bad_usage',
      `unknown source ${file}`,
      'use tasks, sessions, agents, events, or a file like tasks/plan.task.md',
    );
  }
  const disk = at.disk;
  const ids = at.ids;
  const full = path.resolve(at.root, file);
  const newId = `task-${ids.next().slice(-8)}`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const read = readText(disk, full, file);
    if (!read && query.kind !== 'insert') throw new ProblemError(missing(file));
    const reply = queryBoard(read?.text ?? '', file, query, { all: options.all === true, ids: () => newId });
    if (!reply.ok) throw new ProblemError(reply.problem);
    const { text, ...rest } = reply;
    if (text === undefined) return { kind: query.kind, ...rest };
    const bytes = Buffer.from(text);
    const written = await (read ? replace(disk, full, bytes, ids, read.bytes) : create(disk, full, bytes, ids));
    if (written) return { kind: query.kind, ...rest, written: file };
  }
  return fail(
    'disk_failed',
    `${file} changed during every attempt to edit it`,
    'try again when it is no longer being written',
  );
}

async function save(file: string, rows: readonly Row[], at: BoardsAt, options: QueryOptions): Promise<void> {
  const disk = at.disk;
  const ids = at.ids;
  const full = path.resolve(at.root, file);
  const bytes = Buffer.from(printRows(file, rows));
  if (options.force) await replace(disk, full, bytes, ids);
  else if (!(await create(disk, full, bytes, ids))) {
    fail('duplicate', `${file} exists and was not replaced`, 'choose another name, or pass --force');
  }
}

function printRows(file: string, rows: readonly Row[]): string {
  if (file.endsWith('.md')) return rowsToBoard(rows);
  if (file.endsWith('.jsonl')) return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  if (file.endsWith('.json')) return `${JSON.stringify(rows, null, 2)}\n`;
  return fail('bad_usage', `INTO cannot write ${file}`, 'use a name that ends in .task.md, .json or .jsonl');
}

function readText(disk: Disk, full: string, file: string): { text: string; bytes: Buffer } | undefined {
  const read = disk.read(full, MAX_BYTES);
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'not_a_file') fail('bad_file', `${file} is a ${read.what}, not a file`, undefined, file);
  if (read.kind === 'too_big')
    fail('over_limit', `${file} has ${read.size} bytes; the limit is ${MAX_BYTES}`, undefined, file);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(read.bytes);
    return { text, bytes: read.bytes };
  } catch {
    return fail('bad_file', `${file} is not UTF-8 text`, 'save it as UTF-8', file);
  }
}

/** False, and nothing done, if the file no longer has the bytes that were read. */
async function replace(disk: Disk, full: string, bytes: Buffer, ids: Ids, expected?: Buffer): Promise<boolean> {
  return writeTemp(disk, full, bytes, ids, (temp) => {
    if (expected) {
      const now = disk.read(full, MAX_BYTES);
      if (now.kind !== 'file' || !now.bytes.equals(expected)) return false;
    }
    return disk.rename(temp, full);
  });
}

/** False, and nothing done, if the name is taken. */
async function create(disk: Disk, full: string, bytes: Buffer, ids: Ids): Promise<boolean> {
  disk.makeFolder(path.dirname(full));
  return writeTemp(disk, full, bytes, ids, (temp) => disk.link(temp, full));
}

/** Writes the bytes durably to a temp file, which `place` then moves to the real name. */
async function writeTemp(
  disk: Disk,
  full: string,
  bytes: Buffer,
  ids: Ids,
  place: (temp: string) => boolean,
): Promise<boolean> {
  const folder = path.dirname(full);
  const temp = path.join(folder, `.${path.basename(full)}.${ids.next()}`);
  disk.create(temp, bytes);
  try {
    await disk.sync(temp);
    if (!place(temp)) return false;
  } finally {
    disk.remove(temp);
  }
  await disk.syncFolder(folder);
  return true;
}

function missing(file: string): Problem {
  return problem('not_found', `there is no file ${file}`, {
    where: { file },
    hint: 'check the name; it is relative to the workspace',
  });
}

function fail(code: Problem['code'], message: string, hint?: string, file?: string): never {
  throw problemError(code, message, { where: file === undefined ? undefined : { file }, hint });
}
