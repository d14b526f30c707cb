/**
 * The arguments of bubblewrap. A command sees a read-only system, an empty home and the workspace
 * without its private parts. It can write the agent's own folder or, if a human approved it, the
 * workspace except for what only people and the program write. It has no network.
 */
import { attempt } from '../../domain/attempt.js';
import fs from 'node:fs';
import path from 'node:path';
import { READ_ONLY, visibleFiles, type Visibility } from './visible-files.js';

export interface AgentFolder {
  /** The workspace, with all links resolved. */
  root: string;
  /** The agent's own folder. */
  home: string;
  agent: string;
}

/** The places that a command can write to, and its network. */
export interface Reach {
  writes: 'own' | 'workspace';
  /**
   * A folder with the socket of the proxy and the helper that forwards to it, or the proxy's own
   * port if the sandbox shares our network.
   */
  proxy?: { folder: string; helper: string[]; port?: number | undefined };
}

/** HOME inside the sandbox: an empty folder on a read-only file system. */
export const SANDBOX_HOME = '/home/guild';
/** Where the helper and the socket of the proxy are inside the sandbox. */
export const PROXY_FOLDER = '/run/guild';

const TMPFS_BYTES = 512 * 1024 ** 2;
const SMALL_TMPFS_BYTES = 64 * 1024 ** 2;
/** The descriptor on which bubblewrap reads the seccomp filter. */
const FILTER_FD = 3;

export function bubblewrapArgs(folder: AgentFolder, reach: Reach, maxEntries: number, isolation: Isolation): string[] {
  const own = [folder.home, path.join(folder.root, 'scratch', folder.agent)].filter(isRealFolder);
  const visibility = visibleFiles(folder.root, own, maxEntries);
  return [
    ...systemMounts(),
    ...(reach.writes === 'own' ? ownMounts(folder.root, visibility) : workspaceMounts(folder.root, visibility)),
    ...own.flatMap((place) => ['--bind', place, place]),
    ...repositoryMounts(path.join(folder.home, '.git')),
    ...(reach.writes === 'own' ? ['--remount-ro', folder.root] : []),
    ...(reach.proxy ? ['--ro-bind', reach.proxy.folder, PROXY_FOLDER, ...nodeMounts()] : []),
    ...isolationArgs(isolation, folder.root),
  ];
}

/** The kinds of isolation that work on this machine. */
export interface Isolation {
  /** As root there is no user namespace: the command changes to another user instead. */
  asRoot: boolean;
  disableUserns: boolean;
  filter: boolean;
}

export function isolationArgs({ asRoot, disableUserns, filter }: Isolation, cwd: string): string[] {
  return [
    ...(asRoot ? [] : ['--unshare-user', ...(disableUserns ? ['--disable-userns'] : [])]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--cap-drop', 'ALL', ...(asRoot ? ROOT_CAPS.flatMap((cap) => ['--cap-add', cap]) : [])],
    ...(filter ? ['--seccomp', String(FILTER_FD)] : []),
    ...['--die-with-parent', '--new-session', '--remount-ro', '/', '--chdir', cwd],
  ];
}

/** Needed to change the user, and to reach root's files in the mounts of the command. */
const ROOT_CAPS = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_DAC_OVERRIDE'];

/** The system, without the parts of /etc that contain secrets or machine settings. */
export function systemMounts(): string[] {
  const args = ['--ro-bind', '/usr', '/usr'];
  for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink()) args.push('--symlink', fs.readlinkSync(folder), folder);
    else if (stat?.isDirectory()) args.push('--ro-bind', folder, folder);
  }
  for (const file of [...ETC.map((name) => `/etc/${name}`), '/opt', '/nix/store'])
    args.push('--ro-bind-try', file, file);
  return [
    ...args,
    ...['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
    ...['--dev', '/dev', ...tmpfs('/dev/shm', SMALL_TMPFS_BYTES), '--remount-ro', '/dev'],
    ...[...tmpfs('/tmp', TMPFS_BYTES), ...tmpfs('/var/tmp', SMALL_TMPFS_BYTES), '--dir', SANDBOX_HOME],
  ];
}

const ETC =
  `passwd group hosts resolv.conf nsswitch.conf host.conf gai.conf services protocols ld.so.cache ld.so.conf ld.so.conf.d
  alternatives ssl/certs ssl/openssl.cnf ca-certificates pki/tls/certs pki/ca-trust/extracted localtime timezone mime.types magic terminfo`.split(
    /\s+/,
  );

/** Every top-level entry is mounted by itself, so a private name created later stays invisible. */
function ownMounts(root: string, { shown, covered }: Visibility): string[] {
  const args = tmpfs(root, SMALL_TMPFS_BYTES);
  for (const entry of shown) {
    if (entry.link === undefined) args.push('--ro-bind-try', entry.path, entry.path);
    else args.push('--symlink', entry.link, entry.path);
  }
  const below = covered.filter(({ path: file }) => shown.some((entry) => file.startsWith(`${entry.path}/`)));
  return [...args, ...below.flatMap(cover)];
}

/** The workspace itself is mounted, so that new files stay; protected parts are mounted over it. */
function workspaceMounts(root: string, { covered, repositories }: Visibility): string[] {
  const args = ['--bind', root, root];
  for (const name of ['workspaces', 'scratch', ...READ_ONLY]) args.push(...protect(root, name));
  return [...args, ...covered.flatMap(cover), ...repositories.flatMap(repositoryMounts)];
}

function cover({ path: file, isFolder }: Visibility['covered'][number]): string[] {
  return isFolder ? [...tmpfs(file, 4096), '--remount-ro', file] : ['--ro-bind', '/dev/null', file];
}

/**
 * A command may write history, but not the settings and hooks that a person's Git would run. A
 * mounted file cannot be moved away either.
 */
function repositoryMounts(git: string): string[] {
  if (!isRealFolder(git)) return readOnly(git);
  return ['--bind', git, git, ...['config', 'hooks'].flatMap((name) => readOnly(path.join(git, name)))];
}

function readOnly(file: string): string[] {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat === undefined || stat.isSymbolicLink() ? [] : ['--ro-bind', file, file];
}

/** A link cannot be mounted; its target in the workspace can. */
function protect(root: string, name: string): string[] {
  const file = path.join(root, name);
  if (fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return readOnly(file);
  const target = attempt(() => fs.realpathSync(file));
  return target?.startsWith(`${root}/`) ? readOnly(target) : [];
}

/** The helper needs Node, which may be outside the mounted system. */
function nodeMounts(): string[] {
  const node = fs.realpathSync(process.execPath);
  return node.startsWith('/usr/') ? [] : ['--ro-bind', node, node];
}

function tmpfs(place: string, bytes: number): string[] {
  return ['--size', String(bytes), '--tmpfs', place];
}

export function isRealFolder(folder: string): boolean {
  return fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
