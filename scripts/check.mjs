/**
 * `npm run check`: what to run before every commit; under a minute. One line for each step with its time; stops at the first that
 * fails and shows what it said. Leaves out the long tests (crashes at every write, races, kill storms, real processes): `npm test` runs those.
 */
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { collectTests, runTests } from './run-tests.mjs';
import { ROOT, setup } from './setup.mjs';

const LONG = [
  'crash/',
  'race/',
  'storm/',
  'soak/',
  'human/',
  'cli/',
  'examples/',
  'scripts/',
  'app/replay',
  'adapters/shell',
  'adapters/git',
  'tidy.test.js',
];
const CODE = ['src', 'test', 'bench', 'scripts', 'bin'];

setup();
step('types', () => run('typescript/bin/tsc', ['-p', '.', '--noEmit']));
step('lint', () => run('oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', '--format=unix', ...CODE]));
step('format', () => run('oxfmt/bin/oxfmt', ['--check', ...CODE]));
step('build', () => (setup({ build: true }), 0));
step('tidy', () => runTests(collectTests(['tidy.test.js']), { quiet: true }));
step('tests', () => runTests(fastTests(), { quiet: true }));

function fastTests() {
  return collectTests().filter((file) => !LONG.some((part) => file.slice('dist/test/'.length).startsWith(part)));
}

function step(name, work) {
  const began = performance.now();
  const code = work();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(7)} ${seconds.padStart(5)} s\n`);
  if (code !== 0) process.exit(1);
}

function run(tool, args) {
  const file = path.join(ROOT, 'node_modules', tool);
  const done = spawnSync(process.execPath, [file, ...args], { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (done.status !== 0) process.stdout.write(`${done.stdout ?? ''}${done.stderr ?? ''}`);
  return done.status ?? 1;
}
