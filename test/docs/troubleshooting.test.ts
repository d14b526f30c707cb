/** The troubleshooting page is keyed by problem code; every code has an entry. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PROBLEM_CODES } from '../../src/domain/problem.js';

const page = readFileSync(new URL('../../../docs/troubleshooting.md', import.meta.url), 'utf8');
const entries = [...page.matchAll(/^\*\*`(\w+)`\*\*/gm)].map((match) => match[1]!);

test('troubleshooting has one entry for every problem code', () => {
  assert.deepEqual(entries.toSorted(), [...PROBLEM_CODES].toSorted());
});
