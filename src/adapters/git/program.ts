/**
 * Runs git so that it cannot start other programs, although a repository's configuration may name
 * some. Commands on files use a private Git folder and configuration; the repository's filters and
 * attributes are never read. Commands on refs use the repository's configuration with hooks
 * disabled.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ProblemError, problem } from '../../domain/problem.js';

interface GitResult {
  code: number;
  out: string;
  err: string;
}

interface RunOptions {
  input?: string;
  env?: Record<string, string>;
}

export type RunGit = (args: readonly string[], options?: RunOptions) => Promise<GitResult>;

type Env = Record<string, string | undefined>;

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

function run(
  args: string[],
  { cwd, env, background }: Place & { env: Record<string, string> },
  input = '',
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    // In its own process group, so that Ctrl-C does not interrupt a running commit.
    const child = spawn('git', args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    if (background && child.pid !== undefined) lowerPriority(child.pid);
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
      reject(error.code === 'ENOENT' ? new ProblemError(gitMissing()) : error);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({
        code: code ?? 128,
        out: Buffer.concat(out).toString('utf8'),
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

/**
 * Creates a Git folder with only our configuration. Always new: an existing one could be forged.
 */
export function privateGitFolder(under: string, format: 'sha1' | 'sha256', exclude: readonly string[]): string {
  fs.mkdirSync(under, { recursive: true, mode: 0o700 });
  for (const name of fs.readdirSync(under).filter(isLeftover))
    fs.rmSync(path.join(under, name), { recursive: true, force: true });
  const folder = fs.mkdtempSync(path.join(under, `own-${process.pid}-`));
  for (const name of ['refs', 'info', 'objects']) fs.mkdirSync(path.join(folder, name));
  const ignoreCase = process.platform === 'darwin' || process.platform === 'win32';
  const config = [
    '[core]',
    `  repositoryformatversion = ${format === 'sha256' ? 1 : 0}`,
    '  bare = false',
    '  autocrlf = false',
    '  fsyncMethod = batch',
    `  ignoreCase = ${ignoreCase}`,
    '[index]',
    '  threads = false',
    ...(format === 'sha256' ? ['[extensions]', '  objectFormat = sha256'] : []),
  ];
  fs.writeFileSync(path.join(folder, 'config'), `${config.join('\n')}\n`);
  fs.writeFileSync(path.join(folder, 'HEAD'), 'ref: refs/heads/nothing\n');
  fs.writeFileSync(path.join(folder, 'info', 'exclude'), `${exclude.join('\n')}\n`);
  // Store bytes unchanged, regardless of .gitattributes.
  fs.writeFileSync(
    path.join(folder, 'info', 'attributes'),
    '* -text -eol -ident -filter -diff -merge -working-tree-encoding\n',
  );
  return folder;
}

/** True for the folder of a process that has ended. */
function isLeftover(name: string): boolean {
  const pid = /^own-(\d+)-/.exec(name)?.[1];
  if (pid === undefined || Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function gitMissing(): ReturnType<typeof problem> {
  return problem('not_found', 'git was not found, so no history is kept', {
    hint: 'install git, or set `git: false` in guild.yaml',
  });
}
