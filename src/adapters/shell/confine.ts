/**
 * Confines commands. With bubblewrap a command sees a read-only system, can write only the agent's
 * folder, and does not see private files, sessions or the user's home; it has no network unless
 * requested. Without bubblewrap there are only a clean environment and limits, and approvals say
 * so.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { visibleFiles } from './visible-files.js';

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
  /** A folder with more entries than this is not searched for secrets and therefore not visible. */
  maxEntries: number;
}

export const DEFAULT_LIMITS: Limits = {
  memoryBytes: 4 * 1024 ** 3,
  fileBytes: 1024 ** 3,
  processes: 512,
  runawayBytes: 256 * 1024 ** 2,
  maxEntries: 20_000,
};

export interface AgentFolder {
  /** The workspace, with all links resolved. */
  root: string;
  /** The agent's folder: its working directory and HOME. */
  home: string;
  agent: string;
}

export interface Confinement {
  /** Returns the arguments that run `argv` confined. */
  (argv: readonly string[], folder: AgentFolder, network: boolean): string[];
  isSandboxed: boolean;
  /** Why there is no sandbox; undefined if there is one. */
  whyNot?: string;
  isLimited: boolean;
}

export function createConfinement({ isOff, limits }: { isOff: boolean; limits: Limits }): Confinement {
  const bwrap = findProgram('bwrap');
  const prlimit = findProgram('prlimit');
  const whyNot = isOff ? 'GUILD_SANDBOX turns it off' : probe(bwrap);
  const isSandboxed = whyNot === undefined;
  // Inside a sandbox only its own processes count; outside, all processes of the user.
  const limited = prlimit ? [prlimit, ...limitArgs(limits, isSandboxed ? limits.processes : 4096), '--'] : [];
  const wrap = (argv: readonly string[], folder: AgentFolder, network: boolean): string[] =>
    isSandboxed
      ? [
          bwrap!,
          ...mounts(folder, limits.maxEntries),
          ...isolationArgs(network, folder.home),
          '--',
          ...limited,
          ...argv,
        ]
      : [...limited, ...argv];
  return Object.assign(wrap, { isSandboxed, isLimited: prlimit !== undefined, whyNot });
}

/** Passes nothing from our environment, so that no key reaches a command. */
export function cleanEnv(home: string): Record<string, string> {
  return { PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb' };
}

/** Finds a program on PATH; undefined if there is none. */
export function findProgram(name: string): string | undefined {
  for (const folder of PATH.split(':')) {
    const file = path.join(folder, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() && (stat.mode & 0o111) !== 0) return file;
  }
  return undefined;
}

/** Tries the sandbox, because containers and settings may forbid it. Undefined if it works. */
function probe(bwrap: string | undefined): string | undefined {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only';
  if (bwrap === undefined) return 'this machine has no bubblewrap (bwrap)';
  const args = [...systemMounts(), ...isolationArgs(false, '/'), '--', 'true'];
  const result = spawnSync(bwrap, args, {
    env: { PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (result.status === 0) return undefined;
  const message = (result.error?.message ?? result.stderr).trim().split('\n')[0] || `exit ${result.status}`;
  return `bubblewrap does not work here (${message})`;
}

function isolationArgs(network: boolean, cwd: string): string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(network ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--remount-ro', '/', '--chdir', cwd],
  ];
}

/** The system, without the parts of /etc that contain secrets or machine settings. */
function systemMounts(): string[] {
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

function mounts({ root, home, agent }: AgentFolder, maxEntries: number): string[] {
  const ownFolders = [home, path.join(root, 'scratch', agent)].filter(isRealFolder);
  const { shown, covered } = visibleFiles(root, ownFolders, maxEntries);
  const args = [...systemMounts(), '--tmpfs', root];
  for (const entry of shown) {
    if (entry.link === undefined) args.push('--ro-bind-try', entry.path, entry.path);
    else args.push('--symlink', entry.link, entry.path);
  }
  for (const { path: file, isFolder } of covered) {
    if (isFolder) args.push('--tmpfs', file, '--remount-ro', file);
    else args.push('--ro-bind', '/dev/null', file);
  }
  for (const folder of ownFolders) args.push('--bind', folder, folder);
  // The agent may write its history, but not the settings and hooks that a person's Git would run.
  // A mounted file cannot be moved away either.
  const git = path.join(home, '.git');
  if (isRealFolder(git)) args.push('--bind', git, git);
  for (const name of ['config', 'hooks']) args.push(...readOnly(path.join(git, name)));
  return [...args, '--remount-ro', root];
}

function readOnly(file: string): string[] {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat === undefined || stat.isSymbolicLink() ? [] : ['--ro-bind', file, file];
}

export function isRealFolder(folder: string): boolean {
  return fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Never exceeds the system's hard limits: raising one fails, and the command with it. */
function limitArgs(limits: Limits, processes: number): string[] {
  const hard = hardLimits();
  const capped = (name: string, wanted: number): number => Math.min(wanted, hard.get(name) ?? Infinity);
  return [
    '--core=0',
    `--data=${capped('Max data size', limits.memoryBytes)}`,
    `--fsize=${capped('Max file size', limits.fileBytes)}`,
    `--nproc=${capped('Max processes', processes)}`,
  ];
}

function hardLimits(): Map<string, number> {
  const limits = new Map<string, number>();
  try {
    for (const line of fs.readFileSync('/proc/self/limits', 'utf8').split('\n').slice(1)) {
      const [, name, , hard] = /^(.+?) {2,}(\S+) +(\S+)/.exec(line) ?? [];
      if (name && hard !== 'unlimited') limits.set(name, Number(hard));
    }
  } catch {
    // Not on this system: try the limits as they are.
  }
  return limits;
}
