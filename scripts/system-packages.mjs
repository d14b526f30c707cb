/**
 * Programs of the system that tests want and npm cannot bring. As root on Debian they are installed; elsewhere it is said what is
 * missing, and those tests are skipped, which under CI=true is a failure.
 */
import { spawnSync } from 'node:child_process';
import * as process from 'node:process';

/** Program and Debian package. */
const WANTED = [
  { program: 'git', name: 'git', for: 'histories of workspaces and agents' },
  { program: 'bwrap', name: 'bubblewrap', for: 'the sandbox that commands run in' },
];

/** True if everything is there. */
export function systemPackages({ say = (text) => process.stderr.write(`guildhall: ${text}\n`) } = {}) {
  if (process.platform !== 'linux') return true; // What these are for exists on Linux only, and the tests know.
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
