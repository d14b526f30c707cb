/** No promise goes quiet: a skipped test fails the run under CI, and a run without tests is no success. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPTS = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'scripts');
const SKIPPING = "test('not now', { skip: 'no moon' }, () => {});";

test('passing tests pass, failing tests fail', (t) => {
  assert.equal(run(t, `test('good', () => {});`).code, 0);
  assert.notEqual(run(t, `test('bad', () => { throw new Error('x'); });`).code, 0);
});

test('a skipped test is a failure under CI only, and is named', (t) => {
  assert.equal(run(t, SKIPPING).code, 0);
  const strict = run(t, SKIPPING, { CI: 'true' });
  assert.equal(strict.code, 1);
  assert.match(strict.said, /not now \(no moon\)/);
});

test('no test at all is a failure', (t) => {
  assert.equal(run(t, undefined).code, 1);
});

function run(t: TestContext, body: string | undefined, env: Record<string, string> = { CI: '' }) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-runs-'));
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  fs.cpSync(SCRIPTS, path.join(root, 'scripts'), { recursive: true });
  fs.mkdirSync(path.join(root, 'dist/test'), { recursive: true });
  if (body !== undefined)
    fs.writeFileSync(path.join(root, 'dist/test/a.test.js'), `const { test } = require('node:test');\n${body}\n`);
  const code = `import { collectTests, runTests } from './scripts/run-tests.mjs'; process.exit(runTests(collectTests()));`;
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { code: done.status, said: `${done.stdout}${done.stderr}` };
}
