/**
 * Confines commands: with bubblewrap on Linux, with Seatbelt on macOS. Without either there is only
 * a clean environment and limits, and approvals say so. The sandbox is tried once, because
 * containers and settings may forbid it.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  bubblewrapArgs,
  isolationArgs,
  systemMounts,
  type AgentFolder,
  type Isolation,
  type Reach,
} from './bubblewrap.js';
import { cgroupArgs } from './cgroup.js';
import { PATH } from './environment.js';
import { seatbeltArgs } from './seatbelt.js';
import { seccompFilter } from './seccomp.js';
import { visibleFiles } from './visible-files.js';

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

export interface Confinement {
  /**
   * The words in front of an agent's command, which needs `openFilter` as well, or in front of Git
   * when the program itself runs it in the agent's folder.
   */
  prefix(folder: AgentFolder, reach: Reach, of: 'agent' | 'program'): string[];
  /** A new descriptor of the seccomp filter, for the child's descriptor 3; the caller closes it. */
  openFilter(): number | undefined;
  /** The program that holds the sandbox; undefined if there is none. */
  sandbox?: 'bubblewrap' | 'seatbelt';
  /** Why there is no sandbox; undefined if there is one. */
  whyNot?: string;
  /** The sandbox could not be tried in time, so it is not known whether there is one. */
  isUnsure: boolean;
  isLimited: boolean;
}

export function createConfinement({ whyOff, limits }: { whyOff?: string; limits: Limits }): Confinement {
  const prlimit = findProgram('prlimit');
  const limited = (processes: number): string[] => (prlimit ? [prlimit, ...limitArgs(limits, processes), '--'] : []);
  const bare = (why: string, isUnsure = false): Confinement => ({
    // Outside a sandbox, the limit counts all processes of the user, so it is high.
    prefix: () => limited(4096),
    openFilter: () => undefined,
    whyNot: why,
    isUnsure,
    isLimited: prlimit !== undefined,
  });
  if (whyOff !== undefined) return bare(whyOff);
  if (process.platform === 'darwin') return seatbelt(limits, bare);
  if (process.platform !== 'linux') return bare('there is no sandbox for this system');
  const bwrap = findProgram('bwrap');
  if (bwrap === undefined) return bare('this machine has no bubblewrap (bwrap)');
  const probe = probeBubblewrap(bwrap);
  if ('why' in probe) return bare(probe.why, probe.isUnsure);
  const cgroup = cgroupArgs(limits);
  return {
    prefix: (folder, reach, of) => [
      ...cgroup,
      bwrap,
      ...bubblewrapArgs(folder, reach, limits.maxEntries, { ...probe, filter: of === 'agent' && probe.filter }),
      '--',
      ...(probe.asRoot && of === 'agent' ? DROP_ROOT : []),
      ...limited(limits.processes),
      ...(reach.proxy?.helper ?? []),
    ],
    openFilter: () => (probe.filter ? openFilter() : undefined),
    sandbox: 'bubblewrap',
    isUnsure: false,
    isLimited: prlimit !== undefined,
  };
}

function seatbelt(limits: Limits, bare: (why: string) => Confinement): Confinement {
  const program = '/usr/bin/sandbox-exec';
  if (!fs.existsSync(program)) return bare('this machine has no sandbox-exec');
  const tried = spawnSync(program, ['-p', '(version 1)(allow default)', '/usr/bin/true'], { timeout: PROBE_MS[0] });
  if (tried.status !== 0) return bare('sandbox-exec does not work here');
  return {
    prefix: (folder, reach) => {
      const own = [folder.home, path.join(folder.root, 'scratch', folder.agent)];
      return [program, '-p', seatbeltArgs(folder, reach, visibleFiles(folder.root, own, limits.maxEntries))];
    },
    openFilter: () => undefined,
    sandbox: 'seatbelt',
    isUnsure: false,
    isLimited: false,
  };
}

export function findProgram(name: string): string | undefined {
  for (const folder of PATH.split(':')) {
    const file = path.join(folder, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() && (stat.mode & 0o111) !== 0) return file;
  }
  return undefined;
}

/** The second try is for a machine under load. */
const PROBE_MS = [10_000, 30_000];

/** Older versions of bubblewrap cannot disable user namespaces; the filter refuses these, too. */
function probeBubblewrap(bwrap: string): Isolation | { why: string; isUnsure: boolean } {
  const asRoot = process.getuid?.() === 0;
  const filter = seccompFilter() !== undefined;
  if (asRoot && findProgram('setpriv') === undefined)
    return { why: 'guild runs as root, and setpriv is missing', isUnsure: false };
  let failure = { why: '', isUnsure: false };
  for (const disableUserns of asRoot ? [false] : [true, false]) {
    const isolation = { asRoot, disableUserns, filter };
    const result = tryBubblewrap(bwrap, isolation);
    if (result === undefined) return isolation;
    failure = result;
  }
  return failure;
}

function tryBubblewrap(bwrap: string, isolation: Isolation): { why: string; isUnsure: boolean } | undefined {
  const drop = isolation.asRoot ? DROP_ROOT : [];
  const args = [...systemMounts(), ...isolationArgs(isolation, '/'), '--', ...drop, 'true'];
  for (const timeout of PROBE_MS) {
    const filter = isolation.filter ? openFilter() : 'ignore';
    const stdio = ['ignore', 'ignore', 'pipe', filter] as const;
    const result = spawnSync(bwrap, args, { env: { PATH }, stdio: [...stdio], encoding: 'utf8', timeout });
    if (typeof filter === 'number') fs.closeSync(filter);
    if (result.status === 0) return undefined;
    if (result.error && 'code' in result.error && result.error.code === 'ETIMEDOUT') continue;
    const message = (result.error?.message ?? result.stderr).trim().split('\n')[0] || `exit ${result.status}`;
    const root = isolation.asRoot ? '; guild runs as root, so try it as an ordinary user' : '';
    return { why: `bubblewrap does not work here (${message})${root}`, isUnsure: false };
  }
  return { why: 'bubblewrap did not answer in time', isUnsure: true };
}

/**
 * Root would own kernel settings even in a sandbox, and no process limit applies to it. The
 * remaining capability only opens files of root in the mounts that the command has.
 */
const DROP_ROOT = [
  ...[
    'setpriv',
    '--reuid',
    '65534',
    '--regid',
    '65534',
    '--clear-groups',
    '--no-new-privs',
    '--securebits',
    '+no_setuid_fixup',
  ],
  ...['--inh-caps', '-all,+dac_override', '--ambient-caps', '+dac_override', '--bounding-set', '-all,+dac_override'],
  '--',
];

/** Bubblewrap reads to the end, so each start needs a new descriptor. */
function openFilter(): number {
  const file = path.join(os.tmpdir(), `guild-filter-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const fd = fs.openSync(file, 'wx+', 0o600);
  fs.unlinkSync(file);
  const filter = seccompFilter()!;
  fs.writeSync(fd, filter, 0, filter.length, 0);
  return fd;
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
    // The system does not support this; the limits are used as they are.
  }
  return limits;
}
