/** What a task is about, in one line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problem } from '../../src/domain/problem.js';
import { gist, gistOrFailure } from '../../src/views/summary.js';

const asked = {
  role: 'advisor' as const,
  description: '<request__0123456789a agent="human">\nShall we?\n</request__0123456789a>',
};

test('of what was asked the words are shown, not the tags around them', () => {
  assert.equal(gist(asked), 'Shall we?');
});

test('of a failed task the reason comes first, on one line', () => {
  const error = problem('model_failed', 'no key\n  line 3 does not fit');
  assert.equal(gistOrFailure({ ...asked, error }), 'no key · Shall we?');
  assert.equal(gistOrFailure(asked), 'Shall we?');
});
