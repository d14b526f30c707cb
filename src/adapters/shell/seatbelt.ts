/**
 * The macOS sandbox: a Seatbelt profile for `sandbox-exec`, with the contract of the Linux one. A
 * command reads the system and the workspace without its private parts, writes its own folder or
 * the workspace except protected paths, and reaches no network but the proxy.
 */
import path from 'node:path';
import type { AgentFolder, Reach } from './bubblewrap.js';
import { READ_ONLY, type Visibility } from './visible-files.js';

/** The system folders that programs need to start. */
const SYSTEM = [
  ...[
    '/System',
    '/Library',
    '/usr',
    '/bin',
    '/sbin',
    '/opt/homebrew',
    '/private/var/db/dyld',
    '/private/var/db/timezone',
  ],
  ...['/private/etc/hosts', '/private/etc/resolv.conf', '/private/etc/passwd', '/private/etc/protocols'],
  ...['/private/etc/services', '/private/etc/ssl/certs', '/private/etc/ssl/cert.pem', '/private/etc/localtime'],
  '/dev',
];
const SCRATCH = ['/private/tmp', '/private/var/tmp', '/private/var/folders'];

/** Later rules win, so hidden paths come last. */
export function seatbeltArgs({ root, home, agent }: AgentFolder, reach: Reach, { covered }: Visibility): string {
  const own = [home, path.join(root, 'scratch', agent)];
  const protectedPlaces = READ_ONLY.map((name) => path.join(root, name));
  const settings = ['config', 'hooks'].map((name) => path.join(home, '.git', name));
  const isWide = reach.writes === 'workspace';
  const others = [path.join(root, 'workspaces'), path.join(root, 'scratch')];
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork signal sysctl-read mach-lookup)',
    '(allow file-read-metadata)',
    `(allow file-read* (literal "/") ${subpaths([...SYSTEM, ...SCRATCH, root])})`,
    `(allow file-write* ${subpaths(SCRATCH)} (literal "/dev/null") (literal "/dev/tty"))`,
    ...(isWide
      ? [`(allow file-write* ${subpaths([root])})`, `(deny file-write* ${subpaths([...protectedPlaces, ...others])})`]
      : []),
    `(allow file-write* ${subpaths(own)})`,
    `(deny file-write* ${subpaths(settings)})`,
    ...(covered.length > 0 ? [`(deny file-read* file-write* ${subpaths(covered.map((entry) => entry.path))})`] : []),
    `(deny file-read* file-write* ${subpaths(['.guild', '.git', 'sessions', 'quarantine'].map((name) => path.join(root, name)))})`,
    '(deny network*)',
    ...(reach.proxy?.port ? [`(allow network-outbound (remote ip "localhost:${reach.proxy.port}"))`] : []),
  ].join('\n');
}

function subpaths(paths: readonly string[]): string {
  return paths.map((place) => `(subpath ${quoted(place)})`).join(' ');
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
