/** The guards between claim and work: their order is part of the contract. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineContext } from '../../../src/engine/core/context.js';
import {
  CLAIM_GUARDS,
  firstGuard,
  WORK_GUARDS,
  type Guard,
  type GuardResult,
} from '../../../src/engine/pass/guards.js';

test('guards are checked in this order', () => {
  assert.deepEqual(
    CLAIM_GUARDS.map((guard) => guard.name),
    [
      'cancelled',
      'schedule',
      'start not approved',
      'assigned to another agent',
      'agent without capacity',
      'offered to several agents',
    ],
  );
  assert.deepEqual(
    WORK_GUARDS.map((guard) => guard.name),
    [
      'cycle of parents',
      'no agent fits',
      'dependency or help',
      'unknown agent',
      'bid for an offer that is over',
      'faulty agent file',
      'shared conversation or schedule in use',
    ],
  );
});

test('the first guard that applies decides, and later ones are not checked', async () => {
  const asked: string[] = [];
  const guard = (name: string, result?: GuardResult): Guard<string> => ({
    name,
    position: '',
    check(_, claimed) {
      asked.push(`${name} ${claimed}`);
      return Promise.resolve(result);
    },
  });
  const none = {} as EngineContext;
  assert.equal(await firstGuard([guard('a'), guard('b', 'unmoved'), guard('c', 'moved')], none, 't'), 'unmoved');
  assert.deepEqual(asked, ['a t', 'b t']);
  assert.equal(await firstGuard([guard('a')], none, 't'), undefined);
});
