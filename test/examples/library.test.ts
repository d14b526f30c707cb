/** The library example runs as its README says and prints the expected text. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

test('the library example opens a workspace, asks, waits for tasks in order and meets a problem', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['examples/library/index.mjs'], { cwd: ROOT });
  assert.equal(stderr, '');
  assert.match(stdout, /completed: \*\*1\.5\*\* finds what you look for/);
  assert.match(stdout, /writer: 4 turns\n {4}reader: 2 turns/);
  assert.ok(stdout.indexOf('task.completed notes') < stdout.indexOf('task.claimed check'), 'check came after notes');
  assert.match(stdout, /duplicate: a task notes already exists/);
});
