/**
 * A command on a real terminal of a given size. The keys go through the terminal's line discipline,
 * as a person's do.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { beforeRemoval, ROOT, stateOf } from './guild.js';
import { until } from './until.js';

interface Pty {
  /** Everything that was written, without escape codes. */
  text(): string;
  /** Everything that was written, with its escape codes. */
  raw(): string;
  /** Waits until the text after the last match matches. */
  says(what: RegExp): Promise<void>;
  type(keys: string): void;
  /** kill -9 of the program itself. */
  kill(): void;
  ended: Promise<number | null>;
}

export const KEYS = {
  enter: '\r',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  altEnter: '\u001b\r',
  paste: (text: string): string => `\u001b[200~${text}\u001b[201~`,
};

interface Size {
  columns: number;
  rows: number;
}

/** A usual window, a large one and a narrow one. */
export const SIZES: readonly Size[] = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 40, rows: 20 },
];

/** The time during which no key answers a request that has just appeared, and a little more. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 700));
}

const LIMIT_MS = 150_000;
let count = 0;

export function pty(t: TestContext, root: string, { columns, rows }: Size, ...args: string[]): Pty {
  const pid = path.join(root, `.pid-${++count}`);
  const quoted = [process.execPath, path.join(ROOT, 'bin/guild.mjs'), ...args].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  const line = `stty cols ${columns} rows ${rows}; echo $$ > '${pid}'; exec ${quoted.join(' ')}`;
  const env = { ...process.env, ...stateOf(root), TERM: 'xterm-256color', NO_COLOR: '', PAGER: 'cat', CI: '' };
  const child: ChildProcess = spawn('script', ['-qefc', line, '/dev/null'], { cwd: root, env, stdio: 'pipe' });
  let raw = '';
  let seen = 0;
  child.stdout!.on('data', (chunk: Buffer) => (raw += chunk.toString('utf8')));
  child.stderr!.on('data', (chunk: Buffer) => (raw += chunk.toString('utf8')));
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const text = (): string => plain(raw);
  const end = async (): Promise<unknown> => {
    // Kills the program first, because it would outlive its terminal.
    if (child.exitCode === null) killProgram();
    child.kill('SIGKILL');
    return ended;
  };
  t.after(end);
  beforeRemoval.set(root, [...(beforeRemoval.get(root) ?? []), end]);
  return {
    text,
    raw: () => raw,
    async says(what) {
      const end = Date.now() + LIMIT_MS;
      await until(() => what.test(text().slice(seen)) || Date.now() > end);
      const match = what.exec(text().slice(seen));
      if (match === null)
        throw new Error(`the terminal did not show ${String(what)} but ${text().slice(seen).slice(-2000)}`);
      seen += match.index + match[0].length;
    },
    type: (keys) => void child.stdin!.write(keys),
    kill: killProgram,
    ended,
  };

  function killProgram(): void {
    try {
      process.kill(Number(fs.readFileSync(pid, 'utf8')), 'SIGKILL');
    } catch {
      // It has not started, or has ended.
    }
  }
}

/** Text that is drawn again in place starts a new line. */
function plain(text: string): string {
  return (
    text
      // eslint-disable-next-line no-control-regex
      .replace(/\u001b[^@-~]*\[?[0-9;?]*$/, '')
      .replaceAll('\r', '\n')
      // eslint-disable-next-line no-control-regex
      .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007]*\u0007/g, '')
  );
}
