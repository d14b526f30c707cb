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
const LIMIT_MS = { sampled: 15 * 60_000, all: 3 * 60 * 60_000 };
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

/**
 * How many test files share a process. Loading the program takes longer than most quick tests, and
 * so does starting Chromium or PostgreSQL, which the files of a process share. The first match
 * counts; every other file has a process of its own.
 */
const SHARED = [
  ['adapters/shell', 1],
  ['adapters/git', 1],
  ['adapters/', 8],
  // It restarts the server that its process shares.
  ['postgres/away', 1],
  ...['cli/', 'security/', 'app/'].map((start) => [start, 3]),
  ...['crash/', 'race/'].map((start) => [start, 4]),
  ...['postgres/', 'web/', 'fences/', 'docs/', 'human/', 'round-trip/', 'contract/'].map((start) => [start, 5]),
  ...['domain/', 'rules/', 'views/', 'schemas/', 'text/', 'tools/', 'engine/', 'stories/'].map((start) => [start, 16]),
];

/** The modules to start, in order: test files, and modules written here that import several. */
function processesFor(files) {
  const folder = path.join(ROOT, 'dist', 'test-groups');
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const groups = [];
  for (const file of files) {
    const [start, most] = SHARED.find(([folder]) => file.startsWith(`dist/test/${folder}`)) ?? ['', 1];
    const last = groups.at(-1);
    if (last?.start === start && last.files.length < most) last.files.push(file);
    else groups.push({ start, files: [file] });
  }
  return groups.map(({ files: members }, number) => {
    if (members.length === 1) return path.join(ROOT, members[0]);
    const module = path.join(folder, `${number}.test.js`);
    fs.writeFileSync(module, members.map((file) => `import '../../${file}';\n`).join(''));
    return module;
  });
}

/** The exit code. `verbose` prints every test instead of failures only; `all`: no case is left out. */
export async function runTests(files, { verbose = false, all = false } = {}) {
  if (files.length === 0) return 1;
  // The runner passes Node options on to test files; with `-e` they would run the caller.
  process.execArgv = [];
  // Set when a test calls this script; the runner would take itself for that test.
  delete process.env.NODE_TEST_CONTEXT;
  // Two more than there are processors: many tests wait for processes, timers and the disk.
  const concurrency = Math.min(4, os.availableParallelism() + 2);
  const temp = temporaryFolder();
  const code = summary(await runAll(files, { verbose, concurrency, all }), files.length);
  // After a failure the files stay, because they may explain it.
  if (code === 0) removeTemporary(temp);
  else process.stdout.write(`     temporary files of the tests: ${temp}\n`);
  return code;
}

/** Tests put their temporary files here. Sandboxes and other users enter it as they enter /tmp. */
function temporaryFolder() {
  // A short name, because the path of a socket has at most 103 bytes.
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'gt-')));
  fs.chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return folder;
}

/** Lists what tests left behind. Killed processes cannot remove theirs, so this may be right. */
function removeTemporary(folder) {
  const left = fs.readdirSync(folder).filter((name) => name.startsWith('guild-'));
  if (left.length > 0) process.stdout.write(`     removed temporary folders that tests left: ${left.join(', ')}\n`);
  try {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    process.stdout.write(`     ${folder} cannot be removed: ${error.message}\n`);
  }
}

async function runAll(files, { verbose, concurrency, all }) {
  const counts = { passed: 0, failed: 0, skipped: [], cases: 0, msByFile: new Map() };
  const events = run({ files: processesFor(files), concurrency, timeout: all ? LIMIT_MS.all : LIMIT_MS.sampled });
  const running = new Set();
  let before = -1;
  const progress = setInterval(() => {
    // Names what it waits for, so that a test that hangs is noticed before its limit.
    const names = before === counts.passed ? `; running: ${[...running].slice(0, 4).join(', ')}` : '';
    before = counts.passed;
    if (!verbose || names !== '') process.stdout.write(`     ${counts.passed} tests passed${names}\n`);
  }, PROGRESS_MS);
  const key = ({ name, file = '' }) => `${path.basename(file, '.test.js')} “${name}”`;
  events.on('test:dequeue', (test) => {
    const isFile = path.isAbsolute(test.name);
    if (!isFile) running.add(key(test));
  });
  for (const end of ['test:pass', 'test:fail']) events.on(end, (test) => running.delete(key(test)));
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
  else counts.failed++;
  if (test.nesting === 0) counts.msByFile.set(file, (counts.msByFile.get(file) ?? 0) + test.details.duration_ms);
}

function printFailure({ name, file, line, details }) {
  if (details.error?.failureType === 'subtestsFailed') return;
  const error = details.error?.cause ?? details.error;
  const where = file === undefined ? '' : ` (${path.relative(ROOT, file)}${line === undefined ? '' : `:${line}`})`;
  process.stdout.write(`FAIL ${name}${where}\n${inspect(error).replace(/^/gm, '     ')}\n`);
}

function summary({ passed, failed, skipped, cases, msByFile }, files) {
  const slowest = [...msByFile.entries()]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 10)
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
  for (const line of new Set(skipped)) process.stdout.write(`     ${line}\n`);
  if (strict) process.stderr.write('guildhall: skipped or unfinished tests are failures under CI\n');
  return bad ? 1 : 0;
}
