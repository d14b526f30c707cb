import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest, nearestHint, noAgent } from '../../src/domain/nearest.js';

test('a typo, another case or another separator leads to the known name', () => {
  const known = ['temperature', 'max_tokens', 'tools', 'team', 'handoff'];
  for (const [slip, meant] of [
    ['temprature', 'temperature'],
    ['maxTokens', 'max_tokens'],
    ['max-token', 'max_tokens'],
    ['tolos', 'tools'],
    ['Handoff', 'handoff'],
  ] as const) {
    assert.equal(nearest(slip, known), meant);
  }
});

test('a name that resembles no known one gets no suggestion', () => {
  assert.equal(nearest('colour', ['tools', 'team']), undefined);
  assert.equal(nearestHint('colour', ['tools'], 'known: tools'), 'known: tools');
});

test('an unknown agent is answered with the closest name and the whole list', () => {
  const agents = ['tester', 'reporter'];
  assert.equal(
    noAgent('reporterr', agents),
    'there is no agent reporterr (did you mean reporter?); the agents are: reporter, tester',
  );
  assert.equal(noAgent('bob', []), 'there is no agent bob; the agents are: none');
  assert.equal(noAgent('the\nboss', agents, 'choose one'), 'there is no agent "the\\nboss"; choose one');
});
