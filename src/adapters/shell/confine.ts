/**
 * How a command is held in. With bubblewrap: a file tree of its own, in which the system is read-only, the agent's folder is the
 * only place to write, and private files, other sessions and the user's home do not exist; no network unless asked for; every
 * process in it ends with it. Without: a clean environment and limits, and the words for the approval say so.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { sightOf } from './hidden.js';

export const PATH = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
  ...(process.platform === 'darwin' ? ['/opt/homebrew/bin'] : []),
].join(':');

export interface Limits {
  memoryBytes: number;
  fileBytes: number;
  processes: number;
  /** Output beyond this ends the command. */
  runawayBytes: number;
  /** A folder with more entries than this is not looked through for secrets, and so not shown. */
  lookedAt: number;
}

export const DEFAULT_LIMITS: Limits = {
  memoryBytes: 4 * 1024 ** 3,
  fileBytes: 1024 ** 3,
  processes: 512,
  runawayBytes: 256 * 1024 ** 2,
  lookedAt: 20_000,
};

export interface Ground {
  /** The workspace, every link resolved. */
  root: string;
  /** The agent's folder: where it runs, and its HOME. */
  home: string;
  agent: string;
}

export interface Confine {
  /** The words that start these words confined. */
  (argv: readonly string[], ground: Ground, network: boolean): string[];
  isSandboxed: boolean;
  /** Why there is no sandbox; undefined if there is one. */
  whyNot?: string;
  isLimited: boolean;
}

export function confine({ isOff, limits }: { isOff: boolean; limits: Limits }): Confine {
  const bwrap = find('bwrap');
  const prlimit = find('prlimit');
  const whyNot = isOff ? 'it is switched off by GUILD_SANDBOX' : probe(bwrap);
  const isSandboxed = whyNot === undefined;
  // Inside a sandbox only its own processes count; outside, all of the user's do.
  const limited = prlimit ? [prlimit, ...limitArgs(limits, isSandboxed ? limits.processes : 4096), '--'] : [];
  const how = (argv: readonly string[], ground: Ground, network: boolean): string[] =>
    isSandboxed
      ? [bwrap!, ...mounts(ground, limits.lookedAt), ...walls(network, ground.home), '--', ...limited, ...argv]
      : [...limited, ...argv];
  return Object.assign(how, { isSandboxed, isLimited: prlimit !== undefined, ...(whyNot ? { whyNot } : {}) });
}

/** Nothing of ours: no key that is in our environment reaches a command. */
export function cleanEnv(home: string): Record<string, string> {
  return { PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb' };
}

/** The file that this bare name means; undefined if there is none. */
export function find(name: string): string | undefined {
  for (const folder of PATH.split(':')) {
    const file = path.join(folder, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() && (stat.mode & 0o111) !== 0) return file;
  }
  return undefined;
}

/** Undefined if the sandbox works here, which only trying tells: containers and settings forbid what it needs. */
function probe(bwrap: string | undefined): string | undefined {
  if (process.platform !== 'linux') return 'bubblewrap is for Linux only';
  if (bwrap === undefined) return 'this machine has no bubblewrap (bwrap)';
  const args = [...SYSTEM(), ...walls(false, '/'), '--', 'true'];
  const done = spawnSync(bwrap, args, {
    env: { PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (done.status === 0) return undefined;
  const said = (done.error?.message ?? done.stderr).trim().split('\n')[0] || `exit ${done.status}`;
  return `bubblewrap does not work here (${said})`;
}

function walls(network: boolean, cwd: string): string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(network ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--remount-ro', '/', '--chdir', cwd],
  ];
}

/** The system, without the parts of /etc that hold secrets or settings of this machine. */
function SYSTEM(): string[] {
  const args = ['--ro-bind', '/usr', '/usr'];
  for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink()) args.push('--symlink', fs.readlinkSync(folder), folder);
    else if (stat?.isDirectory()) args.push('--ro-bind', folder, folder);
  }
  for (const file of [...ETC.map((name) => `/etc/${name}`), '/opt', '/nix/store'])
    args.push('--ro-bind-try', file, file);
  return [...args, '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/var/tmp'];
}

const ETC =
  `passwd group hosts resolv.conf nsswitch.conf host.conf gai.conf services protocols ld.so.cache ld.so.conf ld.so.conf.d
  alternatives ssl ca-certificates pki localtime timezone mime.types magic terminfo`.split(/\s+/);

function mounts({ root, home, agent }: Ground, lookedAt: number): string[] {
  const own = [home, path.join(root, 'scratch', agent)].filter(isRealFolder);
  const { shown, covered } = sightOf(root, own, lookedAt);
  const args = [...SYSTEM(), '--tmpfs', root];
  for (const entry of shown) {
    if (entry.link === undefined) args.push('--ro-bind-try', entry.path, entry.path);
    else args.push('--symlink', entry.link, entry.path);
  }
  for (const { path: file, isFolder } of covered) {
    if (isFolder) args.push('--tmpfs', file, '--remount-ro', file);
    else args.push('--ro-bind', '/dev/null', file);
  }
  for (const folder of own) args.push('--bind', folder, folder);
  // Its history is its own, but what a person's Git would run there is not. What is mounted cannot be moved away either.
  const git = path.join(home, '.git');
  if (isRealFolder(git)) args.push('--bind', git, git);
  for (const name of ['config', 'hooks']) args.push(...lock(path.join(git, name)));
  return [...args, '--remount-ro', root];
}

function lock(file: string): string[] {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat === undefined || stat.isSymbolicLink() ? [] : ['--ro-bind', file, file];
}

export function isRealFolder(folder: string): boolean {
  return fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Never above what the system already forbids: raising a hard limit fails, and the command with it. */
function limitArgs(limits: Limits, processes: number): string[] {
  const hard = hardLimits();
  const most = (name: string, wanted: number): number => Math.min(wanted, hard.get(name) ?? Infinity);
  return [
    '--core=0',
    `--data=${most('Max data size', limits.memoryBytes)}`,
    `--fsize=${most('Max file size', limits.fileBytes)}`,
    `--nproc=${most('Max processes', processes)}`,
  ];
}

function hardLimits(): Map<string, number> {
  const found = new Map<string, number>();
  try {
    for (const line of fs.readFileSync('/proc/self/limits', 'utf8').split('\n').slice(1)) {
      const [, name, , hard] = /^(.+?) {2,}(\S+) +(\S+)/.exec(line) ?? [];
      if (name && hard !== 'unlimited') found.set(name, Number(hard));
    }
  } catch {
    // No such file: the limits as wanted are tried.
  }
  return found;
}
