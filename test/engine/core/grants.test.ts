/** Tools are offered only where they can be used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import { grantedNames } from '../../../src/engine/core/grants.js';

const planner = { name: 'planner', tools: ['read_file', 'broadcast'], mode: 'plain' } as unknown as Agent;

test('broadcast is offered only in a team, or with a channel to post on', () => {
  assert.deepEqual(grantedNames(planner, { role: 'root' }), ['read_file']);
  assert.deepEqual(grantedNames(planner, { role: 'root' }, { ops: { writers: ['ana'], maxBytes: 1 } }), ['read_file']);
  assert.deepEqual(grantedNames(planner, { role: 'root' }, { ops: { maxBytes: 1 } }), ['read_file', 'broadcast']);
  assert.ok(
    grantedNames(planner, { role: 'root' }, { ops: { writers: ['planner'], maxBytes: 1 } }).includes('broadcast'),
  );
  assert.ok(grantedNames(planner, { role: 'member' }).includes('broadcast'));
});

test('members have tools for the discussion where votes count; elsewhere their answers are enough', () => {
  const ana = { ...planner, tools: ['read_file'] };
  assert.deepEqual(grantedNames(ana, { role: 'member' }), ['read_file', 'broadcast', 'vote_conclude']);
  assert.deepEqual(grantedNames(ana, { role: 'speaker' }), ['read_file']);
  assert.deepEqual(grantedNames(planner, { role: 'speaker' }), ['read_file', 'broadcast']);
});
