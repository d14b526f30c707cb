/**
 * Runs git so that it cannot start other programs, although a repository's configuration may name
 * some: hooks are off, and only commands that read objects or write them as given are used. No
 * filter, attribute or index is involved.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import os from 'node:os';
import type { Env } from '../../../domain/config/env.js';
import { type ProblemError, problemError } from '../../../domain/problem.js';

interface GitResult {
  code: number;
  out: string;
  bytes: Buffer;
  err: string;
}

interface RunOptions {
  input?: string;
  env?: Record<string, string>;
}

export type RunGit = (args: readonly string[], options?: RunOptions) => Promise<GitResult>;

/** Starts git; the caller talks to it. */
export type StartGit = (args: readonly string[]) => ChildProcessWithoutNullStreams;

const TIMEOUT_MS = 120_000;
const MAX_OUT_BYTES = 256 * 1024 * 1024;

/** Disables every program a repository could configure, and all network protocols. */
const SAFE_SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'credential.helper=',
].flatMap((setting) => ['-c', setting]);

interface Place {
  cwd: string;
  env: Env;
  /** Runs git at lower priority. */
  background: boolean;
}

export function runGit(where: Place, own: Record<string, string>): RunGit {
  const env = { ...cleanEnv(where.env), ...own };
  return (args, options = {}) =>
    run([...SAFE_SETTINGS, ...args], { ...where, env: { ...env, ...options.env } }, options.input);
}

export function startGit(where: Place, own: Record<string, string>, settings: readonly string[]): StartGit {
  const env = { ...cleanEnv(where.env), ...own };
  return (args) => {
    const all = [...SAFE_SETTINGS, ...settings.flatMap((setting) => ['-c', setting]), ...args];
    return start(all, { ...where, env });
  };
}

/** In its own process group, so that Ctrl-C does not interrupt a running commit. */
function start(args: string[], { cwd, env, background }: Place & { env: Record<string, string> }) {
  const child = spawn('git', args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  if (background && child.pid !== undefined) lowerPriority(child.pid);
  return child;
}

function run(args: string[], where: Place & { env: Record<string, string> }, input = ''): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = start(args, where);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => child.kill('SIGTERM'), TIMEOUT_MS);
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_OUT_BYTES) out.push(chunk);
      else child.kill('SIGTERM');
    });
    child.stderr.on('data', (chunk: Buffer) => err.length < 100 && err.push(chunk));
    child.stdin.on('error', () => undefined); // git exited early: its exit code says why
    child.stdin.end(input);
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code === 'ENOENT' ? gitMissing() : error);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      const bytes = Buffer.concat(out);
      resolve({
        code: code ?? 128,
        bytes,
        out: bytes.toString('utf8'),
        err: Buffer.concat(err).toString('utf8'),
      });
    });
  });
}

function lowerPriority(pid: number): void {
  try {
    os.setPriority(pid, os.constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has already exited, or the system does not permit it.
  }
}

/** Passes nothing from the caller's environment but PATH. */
function cleanEnv(env: Env): Record<string, string> {
  return {
    PATH: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    ...(env['SYSTEMROOT'] ? { SYSTEMROOT: env['SYSTEMROOT'] } : {}),
    LC_ALL: 'C',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_PAGER: 'cat',
  };
}

export function must<T extends { code: number; err: string }>(result: T): T {
  if (result.code === 0) return result;
  throw gitFailed(result.err.trim().split('\n').slice(-2).join('; ').slice(0, 300) || `exit code ${result.code}`);
}

export function gitFailed(reason: string): ProblemError {
  return problemError('tool_failed', `history could not be written: git says: ${reason}`, {
    hint: 'work continues; the next commit contains everything once git works again',
  });
}

export function gitMissing(): ProblemError {
  return problemError('not_found', 'git was not found, so no history is kept', {
    hint: 'install git, or set `git: false` in guild.yaml',
  });
}
