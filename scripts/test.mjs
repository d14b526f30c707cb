/**
 * `npm test`: types, lint, format and all tests, with expensive suites sampled by a seed.
 * `npm run test:all`: every case, or one shard of them (`--shard 2/6`, or SHARD=2/6).
 * `npm run check`: no expensive suite. Words select test files: `npm test -- power session`.
 */
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { collectTests, inShard, runTests } from './run-tests.mjs';
import { fail, ROOT, setup } from './setup.mjs';
import { systemPackages } from './system-packages.mjs';

const CODE = ['src', 'web', 'test', 'bench', 'scripts', 'bin'];

const { values, positionals: words } = parseArgs({
  options: { all: { type: 'boolean' }, quick: { type: 'boolean' }, shard: { type: 'string' } },
  allowPositionals: true,
});
const startedMs = performance.now();
const tier = values.all ? 'all' : values.quick ? 'quick' : 'sample';
const shard = readShard(values.shard ?? process.env.SHARD);
if (shard !== undefined && tier !== 'all') fail('shards are for npm run test:all');
const seed = process.env.SEED ?? chooseSeed();
Object.assign(process.env, { SEED: seed, TEST_TIER: tier });
if (shard === undefined) delete process.env.SHARD;
else process.env.SHARD = `${shard.index}/${shard.count}`;

setup();
step('types', () => (setup({ build: true }), 0));
if (words.length === 0) {
  step('lint', () => run('oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', '--format=unix', ...CODE]));
  step('format', () => run('oxfmt/bin/oxfmt', ['--check', ...CODE]));
}
const files = collectTests({ words, quick: tier === 'quick' }).filter((file) => inShard(file, shard));
if (files.length === 0)
  fail(words.length === 0 ? 'there are no tests' : `no test file has ${words.join(' or ')} in its path`);
if (tier !== 'quick' && !systemPackages() && process.env.CI === 'true')
  fail('tests that need these programs may not be skipped under CI');
const code = await runTests(files, { verbose: words.length > 0, all: tier === 'all' });
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${coverage()} in ${seconds} s\n`);
process.exit(code);

function coverage() {
  if (tier === 'all') return `all cases${shard ? ` of shard ${shard.index}/${shard.count}` : ''}, SEED=${seed}`;
  return tier === 'quick' ? `quick checks, SEED=${seed}` : `a sample of the expensive suites, SEED=${seed}`;
}

function readShard(text) {
  if (text === undefined || text === '') return undefined;
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? [];
  if (index >= 1 && index <= count) return { index, count };
  return fail(`a shard is written as 2/6, not ${JSON.stringify(text)}`);
}

/**
 * Under CI the seed follows from the commit: a repeated run gives the same answer, and the next
 * commit tries other cases. Elsewhere it differs from run to run.
 */
function chooseSeed() {
  if (process.env.CI === 'true') {
    const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).stdout?.trim();
    if (/^[0-9a-f]{40}/.test(commit ?? '')) return String(Number.parseInt(commit.slice(0, 8), 16) % 1_000_000);
  }
  return String(Date.now() % 1_000_000);
}

function step(name, work) {
  const began = performance.now();
  const status = work();
  const took = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(7)} ${took.padStart(5)} s\n`);
  if (status !== 0) process.exit(1);
}

function run(tool, args) {
  const file = path.join(ROOT, 'node_modules', tool);
  const done = spawnSync(process.execPath, [file, ...args], { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (done.status !== 0) process.stdout.write(`${done.stdout ?? ''}${done.stderr ?? ''}`);
  return done.status ?? 1;
}
