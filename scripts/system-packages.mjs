/**
 * Programs that tests need and npm cannot install. As root on Debian or Ubuntu they are installed
 * with apt; otherwise one line names each missing program and the tests that are skipped.
 */
import { spawnSync } from 'node:child_process';
import * as process from 'node:process';

/** Program and Debian package. `in`: a folder outside PATH. */
const WANTED = [
  { program: 'git', name: 'git', for: 'the history' },
  { program: 'bwrap', name: 'bubblewrap', for: 'the sandbox' },
  { program: 'chromium', name: 'chromium', for: 'the window' },
  { program: 'strace', name: 'strace', for: 'files that decide what a command does' },
  { program: 'initdb', name: 'postgresql', in: '/usr/lib/postgresql', for: 'several machines' },
  { program: 'pgbouncer', name: 'pgbouncer', in: '/usr/sbin', for: 'several machines through a pooler' },
];

/** True if all are installed. */
export function systemPackages({ say = (text) => process.stderr.write(`guildhall: ${text}\n`) } = {}) {
  if (process.platform !== 'linux') return true; // Tests that need them are skipped there.
  let missing = WANTED.filter((wanted) => !has(wanted));
  if (missing.length > 0 && process.getuid() === 0 && has({ program: 'apt-get' })) {
    const names = missing.map(({ name }) => name);
    say(`installing ${names.join(', ')}`);
    if (!apt(['install', '-y', '-q', '--no-install-recommends', ...names])) {
      apt(['update', '-q']);
      apt(['install', '-y', '-q', '--no-install-recommends', ...names]);
    }
    missing = missing.filter((wanted) => !has(wanted));
  }
  for (const { program, name, for: what } of missing) {
    say(`${program} is missing (package ${name}): tests of ${what} are skipped`);
  }
  return missing.length === 0;
}

function has({ program, in: folder = '/usr/bin' }) {
  const look = 'command -v "$1" || ls "$2/$1" "$2"/*/bin/"$1" 2> /dev/null | grep -q .';
  return spawnSync('sh', ['-c', look, 'sh', program, folder], { stdio: 'ignore' }).status === 0;
}

function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', args, { env, stdio: 'ignore', timeout: 5 * 60_000 }).status === 0;
}
