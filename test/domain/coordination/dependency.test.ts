/** Only a record that can be acted on is a dependency. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dependencyOf,
  dependencyStatus,
  printProvided,
  printResolution,
  readProvided,
  readResolution,
} from '../../../src/domain/coordination/dependency.js';
import { makeTask, type TaskState } from '../../../src/domain/task/task.js';

const role = 'dependency';
const read = (dependency: unknown): unknown => dependencyOf({ role, context: { dependency } });

test('a record that cannot be acted on is not a dependency', () => {
  const bad: unknown[] = [
    undefined,
    null,
    'data',
    { type: 'magic', need: 'x' },
    { type: 'data' },
    { type: 'data', need: ' ' },
    { type: 'resource', need: 'x' },
    { type: 'resource', need: 'x', resource: '../../key' },
    { type: 'sequence', need: 'x' },
  ];
  for (const one of bad) assert.equal(read(one), undefined, JSON.stringify(one));
  assert.equal(dependencyOf({ role: 'call', context: { dependency: { type: 'data', need: 'x' } } }), undefined);
});

test('invalid fields of a record are ignored', () => {
  const given = {
    type: 'data',
    need: 'x',
    urgency: 'now!',
    expertise: ['sql', 3, ''],
    dataType: 7,
    deadline: '2030-01-01',
  };
  assert.deepEqual(read(given), {
    type: 'data',
    need: 'x',
    urgency: 'normal',
    expertise: ['sql'],
    deadline: '2030-01-01',
  });
});

test('a printed resolution is read back unchanged', () => {
  const resolution = { status: 'partial', provider: 'ben', data: '{"a":1}', nextSteps: ['ask again'] } as const;
  assert.deepEqual(
    readResolution(printResolution({ ...resolution, nextSteps: [...resolution.nextSteps] })),
    resolution,
  );
  assert.deepEqual(readProvided(printProvided({ status: 'failed' })), { status: 'failed' });
  for (const words of ['', 'resolved', '{', '[]', '{"provided":"yes"}', 'null'])
    assert.equal(readProvided(words), undefined);
});

test('the status follows from the record and its state', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const status = (state: TaskState, more: object = {}): string =>
    dependencyStatus({ task: makeTask({ id: 'd', description: 'x', created_at: at, role, ...more }), state });
  assert.deepEqual(
    [
      status('pending'),
      status('waiting', { claimed_at: at }),
      status('completed', { result: printResolution({ status: 'partial', provider: 'ben' }) }),
      status('completed', { result: printResolution({ status: 'resolved', provider: 'ben' }) }),
      status('failed'),
    ],
    ['pending', 'resolving', 'partial', 'resolved', 'failed'],
  );
});
