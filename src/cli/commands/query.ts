/**
 * `guild query`: queries and changes boards, queries tasks, sessions, agents and events. Prints a
 * table or JSON.
 */
import { type QueryReply, runQuery, type RowStream, streamQuery } from '../../app/readers/queries.js';
import { wordsAt } from '../../app/approvals.js';
import { querySources, type CommandSources } from '../../app/readers/query-sources.js';
import { problemError } from '../../domain/problem.js';
import { type Call, type Command, EXIT, text } from '../args/command.js';
import { drained } from '../process/io.js';
import { jsonText } from '../render/paint.js';
import { progressOn } from '../render/progress.js';
import { layTable, measuredTable } from '../render/table.js';
import type { Terminal } from '../render/terminal.js';

export const command: Command = {
  usage: 'query "<query>"',
  about: `
  SELECT *|columns|COUNT(*) FROM tasks|sessions|agents|events|<file.task.md>
      [WHERE …] [ORDER BY column [DESC], …] [LIMIT n] [INTO <file>]
  UPDATE <file.task.md> SET column = value, … WHERE …
  INSERT INTO <file.task.md> SET title = '…', …
  DELETE FROM <file.task.md> WHERE …

Conditions: = != < <= > >= LIKE IN CONTAINS IS [NOT] NULL AND OR NOT ( )

File names are relative to the workspace. docs/explanation/boards.md describes the language.`,
  options: {
    all: { type: 'boolean', about: 'allow UPDATE and DELETE without WHERE, for every task' },
    force: { type: 'boolean', about: 'let INTO replace a file' },
    output: { type: 'string', short: 'o', value: 'FORMAT', about: 'table (default) or json' },
    format: { type: 'string', value: 'FORMAT', about: 'same as --output' },
  },
  run: (call) =>
    query(call, querySources(call.root, wordsAt(call.root, call.io.env), progressOn(call.terminal, 'indexing'))),
};

const MAX_PROBLEMS = 20;

export async function query(call: Call, sources: CommandSources): Promise<number> {
  const sql = call.words.join(' ').trim();
  if (sql === '') {
    const hint = `guild query "SELECT * FROM tasks/approvals.task.md WHERE completed = false"`;
    throw problemError('bad_usage', 'guild query needs a query', { hint });
  }
  const json = call.json || wantsJson(call);
  const options = { all: call.values['all'] === true, force: call.values['force'] === true };
  const stream = await streamQuery(sql, sources.inPages);
  if (stream !== undefined) {
    await (json ? streamJson(call, stream) : streamTable(call, stream));
    return EXIT.done;
  }
  const reply = await runQuery(sql, { root: call.root, sources }, options);
  printProblems(call.terminal, reply);
  if (json) call.terminal.json(jsonOf(reply));
  else if (reply.kind === 'select' && reply.written === undefined) printTable(call.terminal, reply);
  else call.terminal.out(reply.message);
  return EXIT.done;
}

function wantsJson(call: Call): boolean {
  const format = text(call.values, 'output') ?? text(call.values, 'format') ?? 'table';
  if (format === 'json' || format === 'table') return format === 'json';
  throw problemError('bad_usage', `there is no format ${format}`, { hint: 'use table or json' });
}

/** The same line as `jsonOf` returns, row by row, because very many rows do not fit into memory. */
async function streamJson({ io }: Call, { rows }: RowStream): Promise<void> {
  let separator = '[';
  for await (const row of rows()) {
    io.stdout.write(separator + jsonText(row));
    separator = ',';
    await drained(io.stdout);
  }
  io.stdout.write(separator === '[' ? '[]\n' : ']\n');
}

/** Reads the rows twice: the widths of the columns come first. */
async function streamTable({ terminal, io }: Call, { columns, rows }: RowStream): Promise<void> {
  const table = measuredTable(columns);
  for await (const row of rows()) table.add(row);
  const { head, lay } = table.layout(terminal.width);
  let count = 0;
  for await (const row of rows()) {
    for (const line of count++ === 0 ? [...head, ...lay(row)] : lay(row)) terminal.out(line);
    await drained(io.stdout);
  }
  terminal.say(terminal.dim(count === 1 ? '1 row' : `${count} rows`));
}

/** A SELECT gives its rows; a change gives a message and the rows it changed. */
function jsonOf(reply: QueryReply): unknown {
  if (reply.kind === 'select' && reply.written === undefined) return reply.rows;
  return { message: reply.message, count: reply.rows.length, file: reply.written ?? null, rows: reply.rows };
}

function printProblems(terminal: Terminal, { problems }: QueryReply): void {
  for (const each of problems.slice(0, MAX_PROBLEMS)) terminal.problem(each, each.severity);
  if (problems.length > MAX_PROBLEMS) terminal.say(`and ${problems.length - MAX_PROBLEMS} more: guild lint shows all`);
}

function printTable(terminal: Terminal, reply: QueryReply): void {
  const { rows } = reply;
  if (rows.length > 0) for (const line of layTable(rows, terminal.width, reply.columns)) terminal.out(line);
  terminal.say(terminal.dim(rows.length === 1 ? '1 row' : `${rows.length} rows`));
}
