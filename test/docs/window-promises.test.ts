/** The list in test/web/README.md is true: every file and title that it names exists. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { ROOT } from '../kit/guild.js';
import { listedTests } from './listed-tests.js';

const THREATS = ['network', 'DNS', 'token', 'cookie', 'CSRF', 'markup', 'links', 'invisible', 'look-alike', 'scripts'];

test('every threat, act and promise of the window names a test that exists', () => {
  const listed = listedTests(path.join(ROOT, 'test/web/README.md'), ['threat', 'act ', 'promise']);
  const pages = ['hall', 'inbox', 'tasks', 'task:', 'conversation', 'wait graph', 'agents', 'boards'];
  for (const word of [...THREATS, 'swapped', 'guests', ...pages])
    assert.ok(
      listed.some((what) => what.includes(word)),
      word,
    );
});
