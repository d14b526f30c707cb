/** Similarity separates the same work in other words from different work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { DIFFERENT_BELOW, SAME_AT_LEAST } from '../../../src/rules/staffing/breakdown.js';
import { similarity, stems } from '../../../src/rules/staffing/similarity.js';

const same: [string, string][] = [
  ['Write unit tests for the login page', 'Write the unit tests for login page.'],
  ['Implement user authentication', 'Implementing authentication for users'],
  ['Find Python optimization techniques', 'find optimisation techniques in python'],
];
const between: [string, string][] = [
  ['Write unit tests for the login page', 'Test the login page and the sign-up form'],
  ['Design the database schema for users', 'Design the schema of the users table'],
];
const other: [string, string][] = [
  ['Write unit tests for the login page', 'Deploy the service to production'],
  ['Summarise chapter 3', 'Translate chapter 4 to German'],
  ['Read src/a.ts', 'Read docs/b.md'],
];

test('paraphrases count as the same, other work as different, and the rest as doubtful', () => {
  for (const [a, b] of same) assert.ok(similarity(a, b) >= SAME_AT_LEAST, `${a} | ${b}: ${similarity(a, b)}`);
  for (const [a, b] of between) {
    const like = similarity(a, b);
    assert.ok(like >= DIFFERENT_BELOW && like < SAME_AT_LEAST, `${a} | ${b}: ${like}`);
  }
  for (const [a, b] of other) assert.ok(similarity(a, b) < DIFFERENT_BELOW, `${a} | ${b}: ${similarity(a, b)}`);
});

test('tasks that differ only in a name do not count as the same', () => {
  assert.ok(similarity('Test module 3 of the parser', 'Test module 4 of the parser') < SAME_AT_LEAST);
  assert.ok(similarity('Review src/engine/pump.ts', 'Review src/engine/watch.ts') < SAME_AT_LEAST);
});

test('similarity is between 0 and 1, symmetric, and 1 for equal texts', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const like = similarity(a, b);
      assert.ok(like >= 0 && like <= 1);
      assert.equal(like, similarity(b, a));
      assert.equal(similarity(a, a), 1);
    }),
  );
});

test('stems drop stop words and suffixes', () => {
  assert.deepEqual(stems('Planning the plans of a planner'), ['plan', 'plan', 'plan']);
  assert.deepEqual(stems('of the and'), []);
});
