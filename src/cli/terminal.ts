/**
 * What is printed and where. Results go to standard output, everything else to standard error, so that a pipe gets only
 * results. Text that came from models and files is shown without its control characters: it cannot drive the terminal.
 */
import { styleText } from 'node:util';
import { problemText, type Problem } from '../domain/problem.js';

export interface Terminal {
  /** A result, for people or as it is. */
  out(line: string): void;
  /** A result for programs. */
  json(value: unknown): void;
  /** Said to people; nothing with --quiet. */
  say(line: string): void;
  problem(problem: Problem, severity?: 'error' | 'warning'): void;
  /** Streams text as it comes, without a newline. */
  stream(text: string): void;
  /** Colours and live drawing make sense. */
  live: boolean;
  width: number;
  dim(text: string): string;
  bold(text: string): string;
  colour(name: 'green' | 'red' | 'yellow' | 'cyan' | 'magenta', text: string): string;
}

export function terminal({ quiet, json }: { quiet: boolean; json: boolean }): Terminal {
  const { stdout, stderr, env } = process;
  const colours =
    env['NO_COLOR'] === undefined && env['TERM'] !== 'dumb' && stdout.isTTY === true && stderr.isTTY === true;
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    colours ? styleText(format, text) : text;
  return {
    live: colours && !quiet && !json,
    width: Math.max(30, stdout.columns ?? 100),
    out: (line) => void stdout.write(`${printable(line)}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    say: (line) => void (quiet || json || stderr.write(`${line}\n`)),
    problem(problem, severity = 'error') {
      const mark = severity === 'error' ? style('red', 'problem') : style('yellow', 'warning');
      stderr.write(`${mark}: ${printable(problemText(problem))}\n`);
    },
    stream: (text) => void (quiet || json || stdout.write(printable(text))),
    dim: (text) => style('dim', text),
    bold: (text) => style('bold', text),
    colour: (name, text) => style(name, text),
  };
}

/** Control, bidi and invisible characters as escapes; newline and tab stay. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (char) => {
      return char === '\r' ? '' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
    },
  );
}

/** One line, cut to `width` with an ellipsis. */
export function oneLine(text: string, width: number): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return line.length <= width ? line : `${line.slice(0, Math.max(1, width - 1))}…`;
}

/** Columns as wide as their widest cell; the last one takes what is left of the width. */
export function table(rows: string[][], width: number): string[] {
  if (rows.length === 0) return [];
  const columns = rows[0]!.length;
  const widths = Array.from({ length: columns }, (_, c) => Math.max(...rows.map((row) => bare(row[c] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, c) => {
        if (c < columns - 1) return cell + ' '.repeat(widths[c]! - bare(cell).length);
        const left = width - widths.slice(0, -1).reduce((sum, w) => sum + w + 2, 0);
        return oneLine(cell, Math.max(12, left));
      })
      .join('  ')
      .trimEnd(),
  );
}

function bare(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}
