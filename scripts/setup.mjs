/**
 * Prepares a clone: installs packages if they differ from package-lock.json and, with `--build`,
 * compiles if a source changed. Prints one line per step, and nothing if there is nothing to do.
 * A lock makes concurrent setups take turns.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const LOCK = path.join(ROOT, '.setup-lock');
const STAMP = path.join(ROOT, 'dist', '.stamp');
const SOURCES = [
  'src',
  'test',
  'bench',
  'web',
  'scripts/setup.mjs',
  'scripts/build-window.mjs',
  'scripts/bundle.mjs',
  'tsconfig.json',
  'package-lock.json',
];
const LOCK_LIFE_MS = 15 * 60_000;

/** Exits with one line if packages or compiled files cannot be brought up to date. */
export function setup({ build = false } = {}) {
  needNode(20, 19);
  if (isInstalled() && (!build || isBuilt())) return;
  const release = takeLock();
  process.once('exit', release);
  if (!isInstalled()) install();
  if (build && !isBuilt()) compile();
  process.removeListener('exit', release);
  release();
}

function needNode(major, minor) {
  const [has, hasMinor] = process.versions.node.split('.').map(Number);
  if (has > major || (has === major && hasMinor >= minor)) return;
  fail(`this needs Node ${major}.${minor} or newer; this is Node ${process.versions.node} (${process.execPath})`);
}

/** Compares versions, not times: a copy or a branch switch changes times but not packages. */
function isInstalled() {
  const wanted = readPackages(path.join(ROOT, 'package-lock.json'));
  const present = readPackages(path.join(ROOT, 'node_modules', '.package-lock.json'));
  if (wanted === undefined) fail('package-lock.json is missing or damaged');
  if (present === undefined) return false;
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === '') return true;
    const other = present[name];
    return other === undefined ? entry.optional === true : other.version === entry.version;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function install() {
  say('installing packages');
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: ROOT, encoding: 'utf8' };
  // On Windows npm is a batch file and needs a shell; Node warns if a shell gets separate
  // arguments.
  const windows = process.platform === 'win32';
  const done = windows
    ? spawnSync(['npm', ...args].join(' '), { ...options, shell: true })
    : spawnSync('npm', args, options);
  if (done.status !== 0) {
    process.stderr.write(`${(done.stderr ?? '').split('\n').slice(0, 15).join('\n')}\n`);
    fail(`npm ci failed${done.error ? `: ${done.error.message}` : ''}`);
  }
}

function isBuilt() {
  try {
    return fs.readFileSync(STAMP, 'utf8') === fingerprint();
  } catch {
    return false;
  }
}

/** Size and time of every source. A removed file changes it too. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const start of SOURCES) {
    for (const file of walk(path.join(ROOT, start)).sort()) {
      const { size, mtimeMs } = fs.statSync(file);
      hash.update(`${path.relative(ROOT, file)} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

function compile() {
  say('compiling');
  fs.rmSync(STAMP, { force: true });
  const before = fingerprint();
  removeStale();
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  for (const project of [ROOT, path.join(ROOT, 'web')].filter((each) => fs.existsSync(each))) {
    const done = spawnSync(process.execPath, [tsc, '-p', project], { cwd: ROOT, stdio: 'inherit' });
    if (done.status !== 0) fail('the sources do not compile; see above');
  }
  bundle();
  fs.mkdirSync(path.dirname(STAMP), { recursive: true });
  fs.writeFileSync(STAMP, before);
}

/** A compiled file whose source is gone would still be imported, or run as a test. */
function removeStale() {
  const dist = path.join(ROOT, 'dist');
  const compiled = ['src', 'test', 'bench'].flatMap((folder) => walk(path.join(dist, folder)));
  for (const file of compiled) {
    const source = path.relative(dist, file).replace(/(\.d\.ts|\.js)$/, '.ts');
    if (source.endsWith('.ts') && !fs.existsSync(path.join(ROOT, source))) fs.rmSync(file, { force: true });
  }
}

/** All files under a folder, or the file itself; empty if the path does not exist. */
export function walk(start) {
  const stat = fs.statSync(start, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isDirectory()) return [start];
  return fs
    .readdirSync(start, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? walk(path.join(start, entry.name)) : [path.join(start, entry.name)]));
}

/**
 * The lock is a folder with one file that is named after its owner. A rename creates it, and fails
 * while another lock exists. Renaming the file of a dead owner takes the lock over; only one setup
 * can do that.
 */
function takeLock() {
  const mine = `owner-${process.pid}`;
  const arriving = `${LOCK}.${process.pid}`;
  fs.mkdirSync(arriving, { recursive: true });
  fs.writeFileSync(path.join(arriving, mine), '');
  for (let isReported = false; ; pause(100)) {
    if (tryRename(arriving, LOCK)) break;
    const [owner] = fs.existsSync(LOCK) ? fs.readdirSync(LOCK) : [];
    if (owner === undefined) continue;
    if (isStale(owner) && tryRename(path.join(LOCK, owner), path.join(LOCK, mine))) {
      fs.rmSync(arriving, { recursive: true, force: true });
      break;
    }
    if (!isReported) say('waiting for another setup to finish');
    isReported = true;
  }
  return () => {
    fs.rmSync(path.join(LOCK, mine), { force: true });
    tryRemoveFolder(LOCK);
  };
}

function isStale(owner) {
  const pid = Number(owner.slice('owner-'.length));
  const since = fs.statSync(path.join(LOCK, owner), { throwIfNoEntry: false })?.mtimeMs;
  if (since === undefined) return false;
  if (Date.now() - since > LOCK_LIFE_MS) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

function tryRename(from, to) {
  try {
    fs.renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function tryRemoveFolder(folder) {
  try {
    fs.rmdirSync(folder);
  } catch {
    // Another setup has taken the lock since.
  }
}

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function say(text) {
  process.stderr.write(`guildhall: ${text}\n`);
}

export function fail(text) {
  say(text);
  process.exit(1);
}

if (process.argv[1] !== undefined && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  setup({ build: process.argv.includes('--build') });
}
