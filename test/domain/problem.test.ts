/** Anything thrown becomes a Problem with a code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asProblem, problem, ProblemError, problemText } from '../../src/domain/problem.js';

const carried = problem('bad_usage', 'the plugin was called wrongly', { hint: 'call it rightly' });

test('a ProblemError of this module, or of another copy of it, keeps its problem', () => {
  class OtherCopy extends Error {
    override readonly name = 'ProblemError';
    readonly problem = carried;
  }
  assert.deepEqual(asProblem(new ProblemError(carried)), carried);
  assert.deepEqual(asProblem(new OtherCopy('x')), carried);
});

test('an error that only has the name is not believed', () => {
  const error = Object.assign(new Error('x'), { name: 'ProblemError', problem: { code: 'all_is_well' } });
  assert.deepEqual(asProblem(error), problem('bug', 'x'));
});

test('thrown values that are not errors become bugs', () => {
  assert.deepEqual(asProblem(undefined), problem('bug', 'undefined'));
  assert.deepEqual(asProblem('x'), problem('bug', 'x'));
});

test('of a long source line the part around the caret is shown, and the caret points at the same character', () => {
  const source = `${'x'.repeat(100)}!${'y'.repeat(100)}`;
  for (const column of [1, 5, 60, 101, 180, 201]) {
    const where = { file: 'a.md', line: 1, column, source };
    const [, shown = '', caret = ''] = problemText(problem('bad_file', 'wrong', { where }), 40).split('\n');
    assert.ok(shown.length <= 40, shown);
    assert.equal(shown[caret.length - 1], source[column - 1], `${column}`);
  }
});
