/** The list in test/adapters/files/journal/README.md is true: each rule names tests that exist. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { ROOT } from '../kit/guild.js';
import { listedTests } from './listed-tests.js';

const RULES = 12;

test('every rule of the journal names a test that exists', () => {
  const listed = listedTests(path.join(ROOT, 'test/adapters/files/journal/README.md'), ['rule']);
  for (let rule = 1; rule <= RULES; rule++)
    assert.ok(
      listed.some((what) => what.startsWith(`${rule} `)),
      `rule ${rule}`,
    );
});
