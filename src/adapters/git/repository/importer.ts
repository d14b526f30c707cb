/**
 * Writes commits with one long-lived `git fast-import`: no index and no other process. Each commit
 * is a checkpoint, so it is on disk and readable when `end` resolves. If the process dies, nothing
 * of an unfinished commit is visible.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { gitFailed, gitMissing, type StartGit } from './program.js';

export interface Person {
  name: string;
  mail: string;
}

interface CommitHead {
  ref: string;
  /** The commit before; undefined for the first one. */
  parent: string | undefined;
  author: Person;
  committer: Person;
  at: Date;
  message: string;
}

export interface Importer {
  begin(head: CommitHead): void;
  put(path: string, mode: string, bytes: Uint8Array): void;
  remove(path: string): void;
  /** Resolves when git has read everything written so far. */
  drained(): Promise<void>;
  /** Ends the commit and resolves to its id when it is on disk. */
  end(): Promise<string>;
  idsIn(commit: string, paths: readonly string[]): Promise<(string | undefined)[]>;
  commits(): number;
  isAlive(): boolean;
  close(): Promise<void>;
}

/** Bytes that are gathered for one write. */
const GATHER_BYTES = 256 * 1024;
const TIMEOUT_MS = 120_000;

export function importer(start: StartGit): Importer {
  const child = start(['fast-import', '--quiet', '--date-format=raw']);
  const replies = readReplies(child);
  let gathered: (Uint8Array | string)[] = [];
  let bytes = 0;
  let commits = 0;
  let questions = 0;
  return {
    begin({ ref, parent, author, committer, at, message }) {
      commits++;
      const seconds = `${Math.floor(at.getTime() / 1000)} +0000`;
      write(`commit ${ref}\nmark :${commits}\n`);
      write(`author ${author.name} <${author.mail}> ${seconds}\n`);
      write(`committer ${committer.name} <${committer.mail}> ${seconds}\n`);
      writeData(Buffer.from(message));
      // git fast-import tracks the branch itself: only the first commit names its parent.
      if (parent !== undefined && commits === 1) write(`from ${parent}\n`);
    },
    put(path, mode, content) {
      write(`M ${mode} inline ${quoted(path)}\n`);
      writeData(content);
    },
    remove: (path) => write(`D ${quoted(path)}\n`),
    async drained() {
      flush();
      if (child.stdin.writableNeedDrain) await replies.drained();
    },
    async end() {
      write(`\nget-mark :${commits}\ncheckpoint\n\nprogress ${++questions}\n\n`);
      flush();
      const [id = ''] = await replies.upTo(questions);
      if (/^[0-9a-f]{40,64}$/.test(id)) return id;
      throw gitFailed(`it answered ${JSON.stringify(id.slice(0, 80))}`);
    },
    async idsIn(commit, paths) {
      for (const path of paths) write(`ls ${commit} ${quoted(path)}\n`);
      write(`progress ${++questions}\n\n`);
      flush();
      const lines = await replies.upTo(questions);
      return lines.map((line) => /^\d+ blob ([0-9a-f]+)\t/.exec(line)?.[1]);
    },
    commits: () => commits,
    isAlive: replies.isOpen,
    close: replies.close,
  };

  function writeData(content: Uint8Array): void {
    write(`data ${content.length}\n`);
    write(content);
    write('\n');
  }

  function write(part: Uint8Array | string): void {
    gathered.push(part);
    bytes += part.length;
    if (bytes > GATHER_BYTES) flush();
  }

  function flush(): void {
    if (gathered.length === 0) return;
    const all = Buffer.concat(gathered.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
    gathered = [];
    bytes = 0;
    if (replies.isOpen()) child.stdin.write(all);
  }
}

interface Replies {
  /** The lines before this progress mark; rejects if git ends first. */
  upTo(mark: number): Promise<string[]>;
  isOpen(): boolean;
  /** Resolves when git accepts more input, or has ended. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

function readReplies(child: ChildProcessWithoutNullStreams): Replies {
  let failure: Error | undefined;
  let text = '';
  let lines: string[] = [];
  let errors = '';
  let waiting: { mark: string; resolve(lines: string[]): void; reject(error: Error): void } | undefined;
  child.stdin.on('error', () => undefined); // git has ended: its exit says why
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString('utf8')).slice(-2000)));
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    const complete = text.split('\n');
    text = complete.pop()!;
    for (const line of complete) {
      if (line !== waiting?.mark) lines.push(line);
      else {
        waiting.resolve(lines.filter((entry) => entry !== ''));
        waiting = undefined;
        lines = [];
      }
    }
  });
  /** An idle git must not keep this process from exiting; a git whose answer is awaited must. */
  const hold = (on: boolean): void => {
    for (const part of [child, child.stdin, child.stdout, child.stderr] as { ref?(): void; unref?(): void }[])
      if (on) part.ref?.();
      else part.unref?.();
  };
  hold(false);
  const closed = new Promise<void>((resolve) => {
    const end = (error: Error): void => {
      failure ??= error;
      waiting?.reject(error);
      waiting = undefined;
      resolve();
    };
    child.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ENOENT' ? gitMissing() : error));
    child.on('close', (code) => end(gitFailed(lastLine(errors) || `exit code ${code}`)));
  });
  return {
    close() {
      hold(true);
      child.stdin.end();
      return closed;
    },
    isOpen: () => failure === undefined,
    async drained() {
      hold(true);
      await Promise.race([closed, new Promise((resolve) => child.stdin.once('drain', resolve))]);
      hold(false);
    },
    upTo: (mark) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
        hold(true);
        const stop = <T>(then: (value: T) => void): ((value: T) => void) => {
          return (value) => (clearTimeout(timer), hold(false), then(value));
        };
        waiting = { mark: `progress ${mark}`, resolve: stop(resolve), reject: stop(reject) };
      }),
  };
}

/** A C string literal, which may contain any name. */
function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

function lastLine(text: string): string {
  const lines = text.trim().split('\n');
  const fatal = lines.find((line) => line.startsWith('fatal:'));
  return (fatal ?? lines.at(-1) ?? '').slice(0, 300);
}
