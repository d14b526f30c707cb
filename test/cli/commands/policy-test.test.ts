/**
 * `guild policy test`: verdicts for lines and JSON lines; unreadable policy files close the gate.
 */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { stateOf } from '../../kit/guild.js';
import { tempFolder } from '../../kit/temp/folder.js';
import { policyTest } from '../../../src/cli/commands/policy/test-lines.js';

async function run(
  t: TestContext,
  lines: string[],
  stdin: string[] = [],
  files: Record<string, string> = {},
  json = false,
) {
  const root = tempFolder('policy', t);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  let out = '';
  let err = '';
  const input = (async function* () {
    for (const chunk of stdin) yield Buffer.from(chunk, 'latin1');
  })();
  await policyTest({
    lines,
    json,
    sandbox: 'on',
    env: stateOf(root),
    stdin: input,
    stdout: { write: (text) => void (out += text) },
    stderr: { write: (text) => void (err += text) },
    root,
  });
  return {
    out,
    err,
    verdicts: out
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t')[0]),
  };
}

test('arguments and lines on standard input get a verdict, a tab and a reason each', async (t) => {
  const byArguments = await run(t, ['ls', 'touch x', 'sudo ls']);
  assert.deepEqual(byArguments.verdicts, ['auto', 'ask', 'deny']);
  assert.match(byArguments.out, /^auto\t[^\t\n]+\nask\t[^\t\n]+\ndeny\t[^\t\n]+\n$/);
  const byLines = await run(t, [], ['ls & rm', ' -rf x\npw', 'd\n\nls \u0007\nsudo x']);
  assert.deepEqual(byLines.verdicts, ['ask', 'auto', 'ask', 'deny']);
});

test('JSON lines keep their ids, and a bad line costs only itself', async (t) => {
  const { out } = await run(
    t,
    [],
    [
      '{"id":1,"command":"ls","agent":"a"}\n{bad\n{"id":2}\n{"id":"x","command":"sudo ls"}\nnull\n{"id":3,"command":"ls\\npwd"}',
    ],
    {},
    true,
  );
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    lines.map((line) => [line['id'], line['verdict'] ?? 'error']),
    [
      [1, 'auto'],
      [undefined, 'error'],
      [2, 'error'],
      ['x', 'deny'],
      [undefined, 'error'],
      [3, 'auto'],
    ],
  );
  assert.equal(typeof lines[0]!['ms'], 'number');
  assert.deepEqual(Object.keys(lines[0]!), ['id', 'verdict', 'reason', 'ms']);
});

test('the policy files of the workspace count', async (t) => {
  const files = {
    'storage/terminal-cmd-allowlist.yaml': 'npm test: true\nls: false\n',
    'storage/policy.yaml':
      'a:\n  b: { pattern: execute_command, conditions: [{ command_starts_with: [pwd] }], supervision: notify }\n',
  };
  const { verdicts } = await run(t, ['npm test', 'ls', 'pwd', 'npm install', 'rm -rf /'], [], files);
  assert.deepEqual(verdicts, ['auto', 'ask', 'notify', 'ask', 'deny']);
});

test('a damaged file closes the gate and is named with its place', async (t) => {
  for (const file of ['storage/terminal-cmd-allowlist.yaml', 'storage/policy.yaml']) {
    for (const text of ['ls: [', 'ls: maybe\n', '\ufffd: {\n', 'a: {b: {c: 1}}']) {
      const { verdicts, err } = await run(t, ['ls', 'touch x', 'sudo ls'], [], { [file]: text });
      assert.deepEqual(verdicts, ['ask', 'ask', 'deny'], `${file} ${text}`);
      assert.match(err, new RegExp(`${file}:\\d`));
    }
  }
  const torn = await run(t, ['ls'], [], { 'storage/policy.yaml/x': 'a directory in its place' });
  assert.deepEqual(torn.verdicts, ['ask']);
});
