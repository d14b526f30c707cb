/**
 * Runs compiled test files with Node's own runner, the longest first. Reports failures, counts and
 * the slowest files. Under CI=true on Linux a skipped or unfinished test is a failure.
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { inspect } from 'node:util';
import { ROOT, walk } from './setup.mjs';

/** Per test and per file. Only a test that hangs takes this long, even on a busy machine. */
const TEST_LIMIT_MS = 3 * 60 * 60_000;
const PROGRESS_MS = 20_000;
/** These take longest, so they start first. `npm run check` leaves them out. */
const EXPENSIVE = [
  'crash/',
  'storm/',
  'race/',
  'postgres/',
  'examples/',
  'cli/',
  'human/',
  'web/',
  'security/',
  'fences/',
  'scripts/',
  'app/replay',
  'adapters/shell',
  'adapters/git',
];

/** Compiled test files in the order to run them. `words` keeps paths that contain one of them. */
export function collectTests({ words = [], quick = false } = {}) {
  const rank = (file) => {
    const index = EXPENSIVE.findIndex((start) => file.startsWith(`dist/test/${start}`));
    return index < 0 ? EXPENSIVE.length : index;
  };
  return walk(path.join(ROOT, 'dist', 'test'))
    .map((file) => path.relative(ROOT, file).split(path.sep).join('/'))
    .filter((file) => file.endsWith('.test.js'))
    .filter((file) => words.length === 0 || words.some((word) => file.slice('dist/test/'.length).includes(word)))
    .filter((file) => !quick || rank(file) === EXPENSIVE.length)
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/**
 * A file that samples its cases (test/kit/sample.ts) divides them among the shards itself, so it is
 * part of each shard. The others are assigned to a shard by a hash of their name.
 */
export function inShard(file, shard) {
  if (shard === undefined) return true;
  if (fs.readFileSync(path.join(ROOT, file), 'utf8').includes('/kit/sample.js')) return true;
  const hash = [...file].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 7);
  return hash % shard.count === shard.index - 1;
}

/** Real processes meet there, or are killed at random moments: a busy machine can fail a test. */
const TIMED = /^dist\/test\/(?:storm|race|examples|cli|human)\//;
const MAX_AGAIN = 8;

/**
 * The exit code. `verbose` prints every test instead of failures only. Timed files that fail are
 * run once more by themselves; the summary names those that pass then.
 */
export async function runTests(files, { verbose = false } = {}) {
  if (files.length === 0) return 1;
  // The runner passes Node options on to test files; with `-e` they would run the caller.
  process.execArgv = [];
  // Set when a test calls this script; the runner would take itself for that test.
  delete process.env.NODE_TEST_CONTEXT;
  const counts = await runOnce(files, { verbose, concurrency: Math.max(2, Math.min(4, os.availableParallelism())) });
  const failed = [...counts.failedByFile.keys()].filter((file) => TIMED.test(file));
  if (failed.length > 0 && failed.length <= MAX_AGAIN) {
    process.stdout.write(`     once more: ${failed.join(', ')}\n`);
    const again = await runOnce(failed, { verbose, concurrency: 1 });
    for (const file of failed.filter((name) => !again.failedByFile.has(name))) {
      counts.failed -= counts.failedByFile.get(file);
      counts.unsteady.push(file);
    }
  }
  return summary(counts, files.length);
}

async function runOnce(files, { verbose, concurrency }) {
  const counts = {
    passed: 0,
    failed: 0,
    failedByFile: new Map(),
    unsteady: [],
    skipped: [],
    cases: 0,
    msByFile: new Map(),
  };
  const events = run({ files: files.map((file) => path.join(ROOT, file)), concurrency, timeout: TEST_LIMIT_MS });
  const progress = setInterval(() => {
    if (!verbose) process.stdout.write(`     ${counts.passed} tests passed\n`);
  }, PROGRESS_MS);
  events.on('test:pass', (test) => count(test, counts));
  events.on('test:fail', (test) => {
    count(test, counts);
    if (!verbose) printFailure(test);
  });
  events.on('test:stdout', ({ message }) => {
    counts.cases += Number(/^# (\d+) cases$/m.exec(message)?.[1] ?? 0);
  });
  events.on('test:stderr', ({ message }) => void (verbose || process.stderr.write(message)));
  if (verbose) for await (const text of events.compose(new spec())) process.stdout.write(text);
  else await new Promise((resolve) => events.once('end', resolve).resume());
  clearInterval(progress);
  return counts;
}

function count(test, counts) {
  if (test.details.type === 'suite') return;
  const { file = '?', skip, todo } = test;
  if (skip !== undefined || todo !== undefined) {
    const reason = [skip, todo].find((text) => typeof text === 'string' && text !== '');
    counts.skipped.push(`${skip === undefined ? 'to do' : 'skipped'}: ${test.name}${reason ? ` (${reason})` : ''}`);
  } else if (test.details.error === undefined) counts.passed++;
  else {
    counts.failed++;
    const name = path.relative(ROOT, file).split(path.sep).join('/');
    counts.failedByFile.set(name, (counts.failedByFile.get(name) ?? 0) + 1);
  }
  if (test.nesting === 0) counts.msByFile.set(file, (counts.msByFile.get(file) ?? 0) + test.details.duration_ms);
}

function printFailure({ name, file, line, details }) {
  if (details.error?.failureType === 'subtestsFailed') return;
  const error = details.error?.cause ?? details.error;
  const where = file === undefined ? '' : ` (${path.relative(ROOT, file)}${line === undefined ? '' : `:${line}`})`;
  process.stdout.write(`FAIL ${name}${where}\n${inspect(error).replace(/^/gm, '     ')}\n`);
}

function summary({ passed, failed, unsteady, skipped, cases, msByFile }, files) {
  const slowest = [...msByFile.entries()]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 12)
    .map(
      ([file, ms]) =>
        `${path.relative(path.join(ROOT, 'dist/test'), file).replace(/\.test\.js$/, '')} ${(ms / 1000).toFixed(0)} s`,
    );
  // On Linux every test can run. Elsewhere some need a part of Linux and say so.
  const strict = process.env.CI === 'true' && process.platform === 'linux' && skipped.length > 0;
  const bad = failed > 0 || passed === 0 || strict;
  const parts = [`${passed} passed`, ...(failed > 0 ? [`${failed} failed`] : []), `${skipped.length} skipped`];
  process.stdout.write(
    `${bad ? 'FAIL' : 'ok  '} tests   ${parts.join(', ')} in ${files} ${files === 1 ? 'file' : 'files'}; ${cases} sampled cases\n     slowest: ${slowest.join(', ')}\n`,
  );
  for (const file of unsteady)
    process.stdout.write(`     unsteady: ${file} failed, and passed when it ran once more\n`);
  for (const line of new Set(skipped)) process.stdout.write(`     ${line}\n`);
  if (strict) process.stderr.write('guildhall: skipped or unfinished tests are failures under CI\n');
  return bad ? 1 : 0;
}
