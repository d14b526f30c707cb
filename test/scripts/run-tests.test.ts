/** The test scripts: failures and skips are reported, seeds repeat samples, shards cover all. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { tempFolder } from '../kit/temp/folder.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const SAMPLE = pathToFileURL(path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../kit/sample.js')).href;
const SKIPPING = "test('not now', { skip: 'no moon' }, () => {});";

test('passing tests pass, failing tests fail and are shown', (t) => {
  const good = runFile(t, `test('good', () => {});`);
  assert.equal(good.code, 0, good.printed);
  assert.match(good.printed, /^ok {3}tests {3}1 passed, 0 skipped in 1 file;/m);
  const bad = runFile(t, `test('bad', () => { throw new Error('the moon fell'); });`);
  assert.equal(bad.code, 1);
  assert.match(bad.printed, /^FAIL bad \(dist\/test\/a\.test\.js:2\)\n.*the moon fell/m);
  assert.match(bad.printed, /0 passed, 1 failed/);
});

test('files that share a process are reported under their own names', (t) => {
  const root = house(t);
  fs.mkdirSync(path.join(root, 'dist/test/rules'));
  const put = (name: string, body: string): void =>
    fs.writeFileSync(
      path.join(root, `dist/test/rules/${name}.test.js`),
      `const { test } = require('node:test');\n${body}`,
    );
  put('a', `test('good', () => {}); test('fine', () => {});`);
  put('b', `test('bad', () => { throw new Error('the moon fell'); });`);
  const { code, printed } = runAll(root);
  assert.equal(code, 1);
  assert.match(printed, /^FAIL bad \(dist\/test\/rules\/b\.test\.js:2\)/m);
  assert.match(printed, /2 passed, 1 failed, 0 skipped in 2 files/);
  assert.deepEqual(fs.readdirSync(path.join(root, 'dist/test-groups')), ['0.test.js']);
});

test('temporary files of a run are removed and named, and the files of a failed run stay', (t) => {
  const make = `require('node:fs').mkdtempSync(require('node:path').join(require('node:os').tmpdir(), 'guild-x-'))`;
  const passing = house(t);
  const write = (root: string, body: string): void =>
    fs.writeFileSync(path.join(root, 'dist/test/a.test.js'), `const { test } = require('node:test');\n${body}\n`);
  write(passing, `test('good', () => void ${make});`);
  const { code, printed } = runAll(passing);
  assert.equal(code, 0, printed);
  assert.match(printed, /^ +removed temporary folders that tests left: guild-x-\w+$/m);
  assert.deepEqual(fs.readdirSync(path.join(passing, 'tmp')), []);
  const failing = house(t);
  write(failing, `test('bad', () => { throw new Error(${make}); });`);
  const [, kept] = /temporary files of the tests: (.*)$/m.exec(runAll(failing).printed)!;
  assert.match(fs.readdirSync(kept!).join(), /^guild-x-\w+$/);
});

test('a file that does not load is a failure', (t) => {
  assert.equal(runFile(t, `test('good', () => {}); throw new Error('broken file');`).code, 1);
});

test('a skipped test is a failure under CI only, and is named', (t) => {
  const skipping = `test('good', () => {});\n${SKIPPING}`;
  const lenient = runFile(t, skipping);
  assert.equal(lenient.code, 0);
  const strict = runFile(t, skipping, { CI: 'true' });
  assert.equal(strict.code, 1);
  for (const { printed } of [lenient, strict]) assert.match(printed, /skipped: not now \(no moon\)/);
});

test('a run without tests is a failure', (t) => {
  assert.equal(runFile(t, undefined).code, 1);
  assert.equal(runFile(t, SKIPPING).code, 1);
});

test('each file belongs to one shard, and a file that divides itself to each', (t) => {
  const root = house(t);
  const names = Array.from({ length: 40 }, (_, n) => `dist/test/t${n}.test.js`);
  for (const name of names) fs.writeFileSync(path.join(root, name), '');
  fs.writeFileSync(path.join(root, 'dist/test/wide.test.js'), `import '../test/kit/sample.js';`);
  const code = `
    import { collectTests, inShard } from './scripts/run-tests.mjs';
    const shards = [1, 2, 3].map((index) => collectTests().filter((file) => inShard(file, { index, count: 3 })));
    console.log(JSON.stringify(shards));`;
  const shards = JSON.parse(evaluate(code, { cwd: root }).printed) as string[][];
  const wide = 'dist/test/wide.test.js';
  for (const shard of shards) assert.ok(shard.includes(wide) && shard.length > 5, shard.join(' '));
  const dealt = shards.flat().filter((file) => file !== wide);
  assert.deepEqual(dealt.sort(), names.sort());
});

test('consecutive seeds cover every case, the same seed the same cases, and no sample is empty', () => {
  const items = '[...Array(20).keys()]';
  const seen = new Set<number>();
  for (let seed = 100; seed < 107; seed++) {
    const cases = sampled(`sampleOf('suite', ${items}, 7)`, { SEED: `${seed}` });
    assert.ok(cases.length >= 2 && cases.length <= 3, cases.join(' '));
    for (const each of cases) seen.add(each);
    assert.deepEqual(sampled(`sampleOf('suite', ${items}, 7)`, { SEED: `${seed}` }), cases);
    assert.equal(sampled(`sampleOf('suite', [7], 7)`, { SEED: `${seed}` }).length, 1);
    const [first, second] = sampled(`firstTwo(sampleNumbers('suite'))`, { SEED: `${seed}` });
    assert.ok(first! >= 1 && first! <= 60 && second === first! + 60);
  }
  assert.equal(seen.size, 20);
});

test('tests that are sampled by themselves are covered by consecutive seeds', (t) => {
  const body = `
    import(${JSON.stringify(SAMPLE)}).then(({ sampleTests }) => {
      const test = sampleTests('suite', 3);
      for (const n of [0, 1, 2, 3, 4, 5, 6]) test('case ' + n, () => { throw new Error('ran'); });
    });`;
  const ran = ['100', '101', '102'].map((SEED) =>
    [...runFile(t, body, { CI: '', SHARD: '', TEST_TIER: '', SEED }).printed.matchAll(/^FAIL (case \d)/gm)].map(
      ([, name]) => name,
    ),
  );
  for (const names of ran) assert.ok(names.length >= 2 && names.length <= 3, names.join());
  assert.equal(new Set(ran.flat()).size, 7);
});

test('a file with too few tests for its sample fails, whatever the seed', (t) => {
  const body = (place: string): string => `
    import(${JSON.stringify(SAMPLE)}).then(({ sampleTests }) => {
      const test = sampleTests('suite', 3${place});
      for (const n of [0, 1]) test('case ' + n, () => {});
    });`;
  const env = { CI: '', SHARD: '', TEST_TIER: '' };
  for (const SEED of ['100', '101', '102']) {
    const { code, printed } = runFile(t, `test('good', () => {});${body('')}`, { ...env, SEED });
    assert.equal(code, 1, printed);
    assert.match(printed, /suite samples one in 3 of only 2 tests/);
  }
  const shared = runFile(t, `test('good', () => {});${body(', 4')}`, { ...env, SEED: '100' });
  assert.equal(shared.code, 0, shared.printed);
});

test('shards of a full run divide the cases among them', () => {
  const everything = sampled(`sampleOf('suite', [...Array(20).keys()], 7)`, { TEST_TIER: 'all' });
  assert.equal(everything.length, 20);
  const shards = ['1/3', '2/3', '3/3'].map((SHARD) =>
    sampled(`sampleOf('suite', [...Array(20).keys()], 7)`, { TEST_TIER: 'all', SHARD }),
  );
  assert.deepEqual(
    shards.flat().sort((a, b) => a - b),
    everything,
  );
});

test('only test files draw samples: the script finds files that divide themselves by this import', () => {
  const others = fs
    .readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => /from '.*\/sample\.js'/.test(fs.readFileSync(path.join(ROOT, 'test', file), 'utf8')));
  assert.deepEqual(others, []);
});

/** A small project with the real scripts. */
function house(t: TestContext): string {
  const root = tempFolder('runs', t);
  fs.cpSync(path.join(ROOT, 'scripts'), path.join(root, 'scripts'), { recursive: true });
  fs.mkdirSync(path.join(root, 'dist/test'), { recursive: true });
  return root;
}

function runFile(t: TestContext, body: string | undefined, env: Record<string, string> = { CI: '' }) {
  const root = house(t);
  if (body !== undefined)
    fs.writeFileSync(path.join(root, 'dist/test/a.test.js'), `const { test } = require('node:test');\n${body}\n`);
  return runAll(root, env);
}

function runAll(root: string, env: Record<string, string> = { CI: '' }) {
  const main = path.join(root, 'main.mjs');
  const code = `
    import { collectTests, runTests } from './scripts/run-tests.mjs';
    process.exit(await runTests(collectTests()));`;
  fs.writeFileSync(main, code);
  fs.mkdirSync(path.join(root, 'tmp'), { recursive: true });
  return execute([main], { cwd: root, env: { TMPDIR: path.join(root, 'tmp'), ...env } });
}

function sampled(expression: string, env: Record<string, string>): number[] {
  const code = `
    import { sampleNumbers, sampleOf } from ${JSON.stringify(SAMPLE)};
    const firstTwo = (numbers) => [numbers.next().value, numbers.next().value];
    console.log(JSON.stringify(${expression}));`;
  const printed = evaluate(code, { env: { SHARD: '', TEST_TIER: '', SEED: '1', ...env } }).printed;
  return JSON.parse(printed.split('\n')[0]!) as number[];
}

function evaluate(code: string, place: { cwd?: string; env?: Record<string, string> }) {
  return execute(['--input-type=module', '-e', code], place);
}

function execute(args: string[], { cwd = ROOT, env = {} }: { cwd?: string; env?: Record<string, string> }) {
  const done = spawnSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { code: done.status, printed: `${done.stdout}${done.stderr}` };
}
