/**
 * Runs compiled tests with Node's own runner. Node 20 takes no patterns, so the files are collected here. A second reporter
 * writes down every skipped and unfinished test: under CI=true these are failures, so that no promise goes quiet.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ROOT, walk } from './setup.mjs';

/**
 * For a test file as a whole, too: far above what the slowest takes on a busy machine, so that only what hangs is ended. The crash
 * suites take minutes alone and took 25 among a dozen other busy processes.
 */
const TEST_LIMIT_MS = 3 * 60 * 60_000;

/** Compiled test files, sorted; `words` keeps those whose path contains one of them. */
export function collectTests(words = []) {
  return walk(path.join(ROOT, 'dist', 'test'))
    .map((file) => path.relative(ROOT, file).split(path.sep).join('/'))
    .filter((file) => file.endsWith('.test.js'))
    .filter((file) => words.length === 0 || words.some((word) => file.slice('dist/test/'.length).includes(word)))
    .sort();
}

/** The exit code: 0 if every test passed, and under CI=true if none was skipped. No file is a failure: the runner would search by itself. */
export function runTests(files, { reporter = 'spec', quiet = false } = {}) {
  if (files.length === 0) return 1;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-tests-'));
  const skipped = path.join(folder, 'skipped');
  const noting = fileURLToPath(new URL('note-skipped.mjs', import.meta.url));
  const args = [
    '--test',
    `--test-concurrency=${Math.max(2, Math.min(4, os.availableParallelism()))}`,
    `--test-timeout=${TEST_LIMIT_MS}`,
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
    `--test-reporter=${pathToFileURL(noting)}`,
    `--test-reporter-destination=${skipped}`,
    ...files,
  ];
  const env = { ...process.env };
  delete env.NODE_TEST_CONTEXT; // Set when a test runs this script; the runner would believe it is that test.
  const done = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: quiet ? 'pipe' : 'inherit',
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const notes = fs.existsSync(skipped) ? fs.readFileSync(skipped, 'utf8').trim() : '';
  fs.rmSync(folder, { recursive: true, force: true });
  if (quiet && done.status !== 0) process.stdout.write(`${done.stdout}${done.stderr}`);
  if (done.status !== 0) return done.status ?? 1;
  if (notes !== '' && process.env.CI === 'true') {
    process.stderr.write(`guildhall: skipped or unfinished tests are failures under CI:\n${notes}\n`);
    return 1;
  }
  return 0;
}
