/** Only the moves in the table are legal, and paths between states consist of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGENT_STATES, isMove, movesTo, type AgentState } from '../../../src/domain/agent/agent-state.js';

test('the states of work have exactly these moves', () => {
  const work = AGENT_STATES.filter((state) => state !== 'error' && state !== 'paused');
  const legal = work.flatMap((from) => work.filter((to) => isMove(from, to)).map((to) => `${from} → ${to}`));
  assert.deepEqual(legal.sort(), [
    'blocked → working',
    'complete → working',
    'idle → working',
    'waiting → complete',
    'waiting → working',
    'working → blocked',
    'working → waiting',
  ]);
});

test('every state may move to error and paused, and no state moves to itself', () => {
  for (const state of AGENT_STATES) {
    if (state !== 'error') assert.ok(isMove(state, 'error'), state);
    if (state !== 'paused') assert.ok(isMove(state, 'paused'), state);
    assert.ok(!isMove(state, state), state);
  }
});

const WAYS: [AgentState, AgentState, string][] = [
  ['working', 'complete', 'waiting complete'],
  ['idle', 'blocked', 'working blocked'],
  ['idle', 'complete', 'working waiting complete'],
  ['blocked', 'waiting', 'working waiting'],
  ['complete', 'blocked', 'working blocked'],
  ['error', 'blocked', 'working blocked'],
  ['paused', 'blocked', 'blocked'],
  ['waiting', 'waiting', ''],
];

for (const [from, to, way] of WAYS) {
  test(`from ${from} to ${to} it goes by ${way || 'no move at all'}`, () => {
    assert.equal(movesTo(from, to)?.join(' '), way);
  });
}

test('every path consists of legal moves and avoids error and paused', () => {
  for (const from of AGENT_STATES) {
    for (const to of AGENT_STATES) {
      const way = movesTo(from, to);
      if (way === undefined) continue;
      let at = from;
      for (const [i, next] of way.entries()) {
        assert.ok(isMove(at, next), `${at} → ${next} on the way from ${from} to ${to}`);
        if (i < way.length - 1) assert.ok(next !== 'error' && next !== 'paused');
        at = next;
      }
      assert.equal(at, to);
    }
  }
});

test('an agent that has worked becomes idle again only through error or paused', () => {
  for (const from of ['working', 'waiting', 'blocked', 'complete'] as const)
    assert.equal(movesTo(from, 'idle'), undefined);
  for (const from of ['error', 'paused'] as const) assert.deepEqual(movesTo(from, 'idle'), ['idle']);
});
