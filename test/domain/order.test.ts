/** The order of names in lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareNatural } from '../../src/domain/order.js';

test('names are ordered by their numbers, and equal numbers by their text', () => {
  const sorted = ['a', 'job', 'job-1', 'job-01', 'job-2', 'job-2.x', 'job-10', 'job-x', '7b'];
  const order = ['7b', 'a', 'job', 'job-01', 'job-1', 'job-2', 'job-2.x', 'job-10', 'job-x'];
  assert.deepEqual(sorted.toReversed().sort(compareNatural), order);
  assert.equal(compareNatural('job-2', 'job-2'), 0);
});
