/** The list in test/security/README.md is true: every file and title that it names exists. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { ROOT } from '../kit/guild.js';
import { listedTests } from './listed-tests.js';

test('every finding, rule, surface and requirement names a test that exists', () => {
  const listed = listedTests(path.join(ROOT, 'test/security/README.md'), ['finding', 'rule', 'surface', 'requirement']);
  const findings = [
    'C1',
    'C2',
    ...[1, 2, 3, 4, 5, 6].map((n) => `H${n}`),
    ...Array.from({ length: 10 }, (_, n) => `M${n + 1}`),
  ];
  for (const finding of findings)
    assert.ok(
      listed.some((what) => what.startsWith(`${finding} `)),
      finding,
    );
});
