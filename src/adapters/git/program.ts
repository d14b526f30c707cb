/**
 * Runs the git program so that nothing but git itself runs. Two ways, because a repository's own configuration can name programs:
 * - on files: with a configuration of ours in a folder of ours; filters, monitors and attributes of the repository are not even read.
 * - on refs: with the repository's configuration, for the few commands that only read or move a branch, hooks switched off.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ProblemError, problem } from '../../domain/problem.js';

interface Ran {
  code: number;
  out: string;
  err: string;
}

interface RunMore {
  input?: string;
  env?: Record<string, string>;
}

export type RunGit = (args: readonly string[], more?: RunMore) => Promise<Ran>;

type Env = Record<string, string | undefined>;

const TIMEOUT_MS = 120_000;
const MAX_OUT_BYTES = 256 * 1024 * 1024;

/** What a repository could name to be run, switched off; and no other host is ever spoken to. */
const QUIET = [
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
].flatMap((one) => ['-c', one]);

interface Where {
  cwd: string;
  env: Env;
  /** Gives way to other work on a busy machine. */
  background: boolean;
}

export function runGit(where: Where, own: Record<string, string>): RunGit {
  const env = { ...cleanEnv(where.env), ...own };
  return (args, more = {}) => run([...QUIET, ...args], { ...where, env: { ...env, ...more.env } }, more.input);
}

function run(
  args: string[],
  { cwd, env, background }: Where & { env: Record<string, string> },
  input = '',
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    // A group of its own: Ctrl-C is for us, and a commit under way ends by itself.
    const child = spawn('git', args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    if (background && child.pid !== undefined) giveWay(child.pid);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => child.kill('SIGTERM'), TIMEOUT_MS);
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= MAX_OUT_BYTES) out.push(part);
      else child.kill('SIGTERM');
    });
    child.stderr.on('data', (part: Buffer) => err.length < 100 && err.push(part));
    child.stdin.on('error', () => undefined); // it ended before it had read everything: its exit code says why
    child.stdin.end(input);
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code === 'ENOENT' ? new ProblemError(noGit()) : error);
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

function giveWay(pid: number): void {
  try {
    os.setPriority(pid, os.constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // it has ended already, or the system does not allow it
  }
}

/** Nothing of the caller's environment but where programs are. */
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

/** A git folder with nothing in it but a configuration of ours. It is made afresh, because one that lies there could be another's work. */
export function ownGitFolder(under: string, format: 'sha1' | 'sha256', exclude: readonly string[]): string {
  fs.mkdirSync(under, { recursive: true, mode: 0o700 });
  for (const name of fs.readdirSync(under).filter(isLeftOver))
    fs.rmSync(path.join(under, name), { recursive: true, force: true });
  const folder = fs.mkdtempSync(path.join(under, `own-${process.pid}-`));
  for (const one of ['refs', 'info', 'objects']) fs.mkdirSync(path.join(folder, one));
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
  // Bytes are kept as they are, whatever .gitattributes asks for.
  fs.writeFileSync(
    path.join(folder, 'info', 'attributes'),
    '* -text -eol -ident -filter -diff -merge -working-tree-encoding\n',
  );
  return folder;
}

/** The folder of a process that was killed. */
function isLeftOver(name: string): boolean {
  const pid = /^own-(\d+)-/.exec(name)?.[1];
  if (pid === undefined || Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function noGit(): ReturnType<typeof problem> {
  return problem('not_found', 'the program git was not found, so no history is kept', {
    hint: 'install git, or write `git: false` into guild.yaml',
  });
}
