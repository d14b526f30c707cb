/**
 * Terminal output. Results go to standard output, everything else to standard error, so that a pipe
 * gets only results. Control characters in text from models and files are shown as escapes.
 */
import { problemText, type Problem } from '../../domain/problem.js';
import { withLocalTimes } from '../../views/local-time.js';
import { bell } from './bell.js';
import { dock, type Cursor, type Dock } from './dock.js';
import { drained, type Io, type Output } from '../process/io.js';
import { wrappedLines } from './layout.js';
import { jsonText, CODES, painted, printable, sign } from './paint.js';

export interface Terminal {
  /** A line of the result. */
  out(line: string): void;
  /** Many lines of the result, in few writes. Resolves when all are written. */
  outAll<T>(items: readonly T[], lineOf: (item: T) => string): Promise<void>;
  /** The result for programs, as one line of JSON. */
  json(value: unknown): void;
  /** A message to people, wrapped to the width; nothing with --quiet. */
  say(text: string): void;
  /**
   * Shows these rows below everything else until they are replaced; without rows, nothing. The
   * cursor is placed in them, or hidden. Only if `live`.
   */
  dock(rows: readonly string[], cursor?: Cursor): void;
  /** Ends a line of the stream that is not finished. */
  endStream(): void;
  /**
   * Shows these lines on the full screen; undefined restores the previous content. Only if `live`.
   */
  screen(lines: string[] | undefined): void;
  problem(problem: Problem, severity?: 'error' | 'warning'): void;
  /** The bell, and the terminal's own notification where it has one. Only if `live`. */
  ring(message: { title: string; text: string }): void;
  /** Part of a result, without a newline. */
  stream(text: string): void;
  /** Messages to people are not shown. */
  quiet: boolean;
  /** Lines can be drawn again in place. */
  live: boolean;
  /** Infinity in a pipe, where nothing is cut. */
  width: number;
  height: number;
  /** The line as it is written, with colours as escape codes. */
  painted(line: string): string;
  dim(text: string): string;
  bold(text: string): string;
  colour(name: 'green' | 'red' | 'yellow' | 'cyan' | 'magenta', text: string): string;
}

const LINES_AT_ONCE = 1000;

export function terminal(io: Io, { quiet = false, json = false } = {}): Terminal {
  const { stdout, stderr, env } = io;
  const canDraw = env['TERM'] !== 'dumb' && stdout.isTTY === true && stderr.isTTY === true;
  const colours = canDraw && (env['NO_COLOR'] ?? '') === '';
  const style = (name: keyof typeof CODES, text: string): string =>
    colours ? `${sign(CODES[name][0])}${text}${sign(CODES[name][1])}` : text;
  let onScreen = false;
  let bottom: Dock | undefined;
  const width = (): number => (stdout.isTTY ? Math.max(20, stdout.columns || 80) : Infinity);
  /** Above the docked rows, if there are any. */
  const put = (stream: Output, text: string): void => {
    if (bottom === undefined) stream.write(text);
    else bottom.print(stream, text);
  };
  return {
    quiet,
    live: canDraw && !quiet && !json,
    get width() {
      return width();
    },
    get height() {
      return stdout.rows || 24;
    },
    out: (line) => put(stdout, `${painted(line)}\n`),
    async outAll(items, lineOf) {
      for (let from = 0; from < items.length; from += LINES_AT_ONCE) {
        const some = items.slice(from, from + LINES_AT_ONCE);
        put(stdout, some.map((item) => `${painted(lineOf(item))}\n`).join(''));
        await drained(stdout);
      }
    },
    json: (value) => put(stdout, `${jsonText(value)}\n`),
    say(text) {
      if (quiet || json) return;
      put(
        stderr,
        wrappedLines(text, width())
          .map((line) => `${painted(line)}\n`)
          .join(''),
      );
    },
    dock(rows, cursor) {
      if (rows.length > 0) (bottom ??= dock(stderr, width)).show(rows, cursor);
      else if (bottom !== undefined) {
        bottom.close();
        bottom = undefined;
      }
    },
    endStream: () => bottom?.endStream(),
    screen(lines) {
      if (lines === undefined) {
        if (onScreen) stdout.write('\u001b[?7h\u001b[?25h\u001b[?1049l');
        onScreen = false;
        return;
      }
      if (!onScreen) stdout.write('\u001b[?1049h\u001b[?25l\u001b[?7l');
      onScreen = true;
      const text = lines.slice(0, stdout.rows || 24).map((line) => `\u001b[2K${painted(line)}`);
      stdout.write(`\u001b[H${text.join('\r\n')}\u001b[0J`);
    },
    problem(problem, severity = 'error') {
      const mark = severity === 'error' ? style('red', 'problem') : style('yellow', 'warning');
      const local = { ...problem, message: withLocalTimes(problem.message) };
      const lines = `${mark}: ${problemText(local, width())}`.split('\n');
      const caret = lines.findIndex((line) => /^\s*\^$/.test(line));
      for (const [at, line] of lines.entries()) {
        // The caret points into the source line, so neither is wrapped.
        const isPointed = caret > 0 && (at === caret || at === caret - 1);
        for (const part of isPointed ? [line] : wrappedLines(line, width())) put(stderr, `${painted(part)}\n`);
      }
    },
    ring(message) {
      if (canDraw && !quiet && !json) stderr.write(bell(message, env));
    },
    stream(text) {
      if (quiet || json) return;
      if (bottom === undefined) stdout.write(printable(text));
      else bottom.stream(stdout, text);
    },
    painted,
    dim: (text) => style('dim', text),
    bold: (text) => style('bold', text),
    colour: (name, text) => style(name, text),
  };
}
