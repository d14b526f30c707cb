/**
 * Programs that tests need and npm cannot install. As root on Debian or Ubuntu they are installed
 * with apt; otherwise one line names each missing program and the tests that are skipped.
 */
import { spawnSync } from 'node:child_process';
import * as process from 'node:process';

/** Program and Debian package. */
const WANTED = [
  { program: 'git', name: 'git', for: 'the history' },
  { program: 'bwrap', name: 'bubblewrap', for: 'the sandbox' },
  { program: 'chromium', name: 'chromium', for: 'the window' },
  { program: 'strace', name: 'strace', for: 'files that decide what a command does' },
];

/** True if all are installed. */
export function systemPackages({ say = (text) => process.stderr.write(`guildhall: ${text}\n`) } = {}) {
  if (process.platform !== 'linux') return true; // Tests that need them are skipped there.
  let missing = WANTED.filter(({ program }) => !has(program));
  if (missing.length > 0 && process.getuid() === 0 && has('apt-get')) {
    const names = missing.map(({ name }) => name);
    say(`installing ${names.join(', ')}`);
    if (!apt(['install', '-y', '-q', '--no-install-recommends', ...names])) {
      apt(['update', '-q']);
      apt(['install', '-y', '-q', '--no-install-recommends', ...names]);
    }
    missing = missing.filter(({ program }) => !has(program));
  }
  for (const { program, name, for: what } of missing) {
    say(`${program} is missing (package ${name}): tests of ${what} are skipped`);
  }
  return missing.length === 0;
}

function has(program) {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' }).status === 0;
}

function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', args, { env, stdio: 'ignore', timeout: 5 * 60_000 }).status === 0;
}
