/**
 * `guild query`: queries and changes boards, queries tasks, sessions, agents and events. Prints a
 * table or JSON.
 */
import { type QueryReply, runQuery, type Row, type Sources } from '../../app/readers/queries.js';
import { querySources } from '../../app/readers/query-sources.js';
import { ProblemError, problem } from '../../domain/problem.js';
import { columnsOf } from '../render/columns.js';
import { type Call, type Command, EXIT, text } from '../args/command.js';
import { oneLine } from '../render/layout.js';
import { progressOn } from '../render/progress.js';
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

File names start from the workspace. docs/explanation/boards.md describes the language.`,
  options: {
    all: { type: 'boolean', about: 'allow UPDATE and DELETE without WHERE, for every task' },
    force: { type: 'boolean', about: 'let INTO replace a file' },
    output: { type: 'string', short: 'o', value: 'FORMAT', about: 'table (default) or json' },
    format: { type: 'string', value: 'FORMAT', about: 'same as --output' },
  },
  run: (call) => query(call, querySources(call.root, progressOn(call.terminal, 'indexing'))),
};

const MAX_PROBLEMS = 20;
const MIN_CELL = 8;
const MAX_CELL = 60;

export async function query(call: Call, sources: Sources): Promise<number> {
  const sql = call.words.join(' ').trim();
  if (sql === '') {
    const hint = `guild query "SELECT * FROM tasks/approvals.task.md WHERE completed = false"`;
    throw new ProblemError(problem('bad_usage', 'guild query needs a query', { hint }));
  }
  const json = call.json || wantsJson(call);
  const options = { all: call.values['all'] === true, force: call.values['force'] === true };
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
  throw new ProblemError(problem('bad_usage', `there is no format ${format}`, { hint: 'use table or json' }));
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

/** A table no wider than `width`; with too many columns for it, each row takes lines of its own. */
export function layTable(rows: readonly Row[], width: number, named?: readonly string[]): string[] {
  const columns = [...(named ?? filledColumns(rows))];
  const cells = rows.map((row) => columns.map((column) => cellText(row[column])));
  const widths = columns.map((column, c) =>
    cells.reduce((max, row) => Math.max(max, columnsOf(row[c]!)), columnsOf(column)),
  );
  const fitted = fit(widths, width);
  if (!fitted) return rows.flatMap((row) => record(row, columns, width));
  const lay = (row: string[]): string =>
    row
      .map((cell, c) => padded(oneLine(cell, fitted[c]!), fitted[c]!))
      .join('  ')
      .trimEnd();
  return [lay(columns), lay(fitted.map((w) => '-'.repeat(w))), ...cells.map(lay)];
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - columnsOf(cell)));
}

/** For `SELECT *`: the columns that any row fills, in the order in which they appear. */
function filledColumns(rows: readonly Row[]): string[] {
  const seen = new Map<string, boolean>();
  for (const row of rows) {
    for (const [key, value] of Object.entries(row)) {
      seen.set(key, seen.get(key) === true || !(cellText(value) === '' || value === false));
    }
  }
  const filled = [...seen].filter(([, says]) => says).map(([key]) => key);
  return filled.length > 0 ? filled : [...seen.keys()];
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(cellText).join(', ');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replace(/\s+/g, ' ').trim();
}

/** Shrinks the widest columns until all fit; undefined if they would be too narrow to read. */
function fit(widths: readonly number[], width: number): number[] | undefined {
  if (width === Infinity) return [...widths];
  const fitted = widths.map((w) => Math.min(w, MAX_CELL));
  let over = fitted.reduce((sum, w) => sum + w, 0) + 2 * (fitted.length - 1) - width;
  while (over > 0) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if (fitted[widest]! <= MIN_CELL) return undefined;
    fitted[widest]! -= 1;
    over -= 1;
  }
  return fitted;
}

function record(row: Row, columns: readonly string[], width: number): string[] {
  const filled = columns.filter((column) => cellText(row[column]) !== '');
  return [...filled.map((column) => oneLine(`${column}: ${cellText(row[column])}`, width)), ''];
}
