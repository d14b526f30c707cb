/** The summary of a task fits in one line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problem } from '../../src/domain/problem.js';
import { summary, summaryOrFailure } from '../../src/views/summary.js';

const asked = {
  role: 'advisor' as const,
  description: '<request__0123456789a agent="human">\nShall we?\n</request__0123456789a>',
};

test('the summary shows the request without its tags', () => {
  assert.equal(summary(asked), 'Shall we?');
});

test('the summary of a failed task starts with the reason, in one line', () => {
  const error = problem('model_failed', 'no key\n  line 3 does not fit');
  assert.equal(summaryOrFailure({ ...asked, error }), 'no key · Shall we?');
  assert.equal(summaryOrFailure(asked), 'Shall we?');
});

test('a bid shows the task that it is about, not its prompt', () => {
  const offered =
    'Should ana take it?\n<offered_task__0123456789a agent="human">\nDraw it\n</offered_task__0123456789a>\nType: x.';
  assert.equal(summary({ role: 'bid', description: offered }), 'bid on: Draw it');
});

test('a stage of a pattern shows what was asked, not the prompt around it', () => {
  const tag = 'original_user_request__0123456789a';
  const fenced = `<${tag} agent="human">\nMove the archive?\n</${tag}>`;
  const stage = `${fenced}\n\nYour team has finished.\n\n<update__0123456789b agent="ana">\nNo.\n</update__0123456789b>`;
  for (const role of ['work', 'member', 'handoff'] as const)
    assert.equal(summary({ role, description: stage }), 'Move the archive?');
  const advice = 'manager asks for your advice.';
  for (const request of ['Move the archive?', fenced])
    assert.equal(summary({ role: 'advisor', description: `${request}\n\n${advice}` }), 'Move the archive?');
});
