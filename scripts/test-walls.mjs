/**
 * `npm run test:walls`: the security tests and those of the shell three times: as the user who
 * starts it, as an ordinary user if the first is root, and without a sandbox. Prints the counts of
 * each. Words select files: `npm run test:walls -- consent`.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { collectTests } from './run-tests.mjs';
import { ROOT, setup } from './setup.mjs';
import { systemPackages } from './system-packages.mjs';

const PLACES = ['dist/test/security/', 'dist/test/adapters/shell/'];
const ORDINARY = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--inh-caps', '-all', '--'];

const words = process.argv.slice(2);
setup();
systemPackages();
const files = collectTests().filter(
  (file) =>
    PLACES.some((place) => file.startsWith(place)) && (words.length === 0 || words.some((word) => file.includes(word))),
);
const isRoot = process.getuid?.() === 0;
const rounds = [
  { name: isRoot ? 'as root' : 'as an ordinary user', prefix: [], env: {} },
  ...(isRoot ? [{ name: 'as an ordinary user', prefix: ['setpriv', ...ORDINARY], env: {} }] : []),
  { name: 'without a sandbox', prefix: [], env: { GUILD_SANDBOX: 'off' } },
];
let hasFailed = false;
for (const { name, prefix, env } of rounds) {
  const { passed, failed, skipped, output } = runRound(prefix, env);
  hasFailed ||= failed > 0 || passed === 0;
  process.stdout.write(
    `${failed > 0 || passed === 0 ? 'FAIL' : 'ok  '} ${name}: ${passed} passed, ${failed} failed, ${skipped} skipped\n`,
  );
  if (failed > 0 || passed === 0) process.stdout.write(output);
}
process.exitCode = hasFailed ? 1 : 0;

function runRound(prefix, env) {
  const argv = [...prefix, process.execPath, '--test', '--test-reporter=tap', '--test-concurrency=2', ...files];
  const { GUILD_SANDBOX: _, ...rest } = process.env;
  const home = prefix.length > 0 ? fs.mkdtempSync('/home/guild-walls-') : undefined;
  if (home !== undefined) fs.chownSync(home, 65534, 65534);
  const own = home === undefined ? {} : { HOME: home };
  const options = { cwd: ROOT, env: { ...rest, ...own, ...env }, encoding: 'utf8', maxBuffer: 1 << 28 };
  const { stdout } = spawnSync(argv[0], argv.slice(1), options);
  if (home !== undefined) fs.rmSync(home, { recursive: true, force: true });
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0);
  return { passed: count('pass'), failed: count('fail'), skipped: count('skipped'), output: failures(stdout) };
}

/** The failed tests of a report, each with its message. */
function failures(report) {
  const parts = report.split(/^(?=# Subtest: )/m).filter((part) => /^not ok/m.test(part));
  return parts.map((part) => part.slice(0, 3000)).join('');
}
