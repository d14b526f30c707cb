/** The parts of a breakdown are validated, compared with existing work, and asked for in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Breakdown, Part } from '../../../src/domain/task/breakdown.js';
import { makeTask, type EndedState, type Placed, type WantedChild } from '../../../src/domain/task/task.js';
import { partsProblem, sortParts } from '../../../src/rules/staffing/breakdown.js';
import { breakdownStep } from '../../../src/rules/patterns/breakdown.js';

const part = (key: string, description: string, more: Partial<Part> = {}): Part => ({
  key,
  description,
  requirements: [],
  dependsOn: [],
  isNew: false,
  ...more,
});
const PARENT = 'Build a REST API for user management';
const HAVE = new Set(['code', 'search']);

test('invalid parts are refused with one sentence that names the fault', () => {
  const rows: [Part[], RegExp][] = [
    [[], /the list of parts is empty/],
    [[part('a b', 'x')], /"a b" is not a valid key/],
    [[part('a', 'x'), part('a', 'y')], /two parts have the key a/],
    [[part('a', '  ')], /the part a has no description/],
    [[part('a', 'x', { dependsOn: ['z'] })], /a depends on "z", which is not one of the parts: a/],
    [
      [part('a', 'x', { requirements: ['fly'] })],
      /a requires "fly", which no agent has; known capabilities: code, search/,
    ],
    [[part('a', 'x', { dependsOn: ['b'] }), part('b', 'y', { dependsOn: ['a'] })], /wait for each other: a → b → a/],
    [[part('a', 'x', { dependsOn: ['a'] })], /wait for each other: a → a/],
    [[part('a', 'Build the REST API for user management')], /the only part is the task itself/],
  ];
  for (const [parts, message] of rows) assert.match(partsProblem(parts, PARENT, HAVE) ?? 'nothing', message);
  assert.equal(partsProblem([part('a', 'x', { requirements: ['fly'], isNew: true })], PARENT, HAVE), undefined);
});

test('a chain of ten thousand parts is validated without overflowing the stack', () => {
  const parts = Array.from({ length: 10_000 }, (_, i) =>
    part(`p${i}`, `step ${i}`, { dependsOn: i === 0 ? ['p9999'] : [`p${i - 1}`] }),
  );
  assert.match(partsProblem(parts, PARENT, HAVE)!, /^these parts wait for each other: p0 → p9999 → /);
});

test('a part that repeats other work is dropped, and a similar one is left to a model', () => {
  const sorted = sortParts(
    [
      part('schema', 'Design the schema of the users table'),
      part('tests', 'Write unit tests for the login page'),
      part('again', 'Write the unit tests for login page'),
      part('deploy', 'Deploy the service'),
    ],
    [
      { id: 't1', description: 'Design the database schema for users' },
      { id: 't2', description: 'Deploying the service' },
    ],
  );
  assert.deepEqual(sorted.dropped, { again: '#tests', deploy: 't2' });
  assert.deepEqual(sorted.doubtful, { schema: 't1' });
  assert.deepEqual(sorted.known, { t1: 'Design the database schema for users' });
});

const task = makeTask({ id: 'r.call-1', role: 'breakdown', to: 'planner', description: 'Parts', created_at: 'now' });

function ended(child: WantedChild, state: EndedState, result: string): [string, Placed] {
  const error = { code: 'model_failed' as const, message: result };
  const made = makeTask({ ...child, created_at: 'now', ...(state === 'completed' ? { result } : { error }) });
  return [child.id, { task: made, state }];
}

test('doubtful parts are compared first, then the parts run, then their outcomes are summed up', () => {
  const broken: Breakdown = {
    parts: [
      part('a', 'A'),
      part('b', 'B', { dependsOn: ['a'] }),
      part('c', 'C', { dependsOn: ['b', 'd'] }),
      part('d', 'D'),
    ],
    dropped: { d: '#a' },
    doubtful: { b: 'old' },
    known: { old: 'B before' },
  };
  const asked = breakdownStep(task, broken, new Map());
  assert.ok('ask' in asked);
  assert.deepEqual(
    asked.ask.map((child) => [child.id, child.role, child.to]),
    [['r.call-1.same', 'same', 'planner']],
  );
  const children = new Map([ended(asked.ask[0]!, 'completed', '["b"]')]);
  const parts = breakdownStep(task, broken, children);
  assert.ok('ask' in parts);
  assert.deepEqual(
    parts.ask.slice(1).map((child) => [child.id, child.role, child.dependencies]),
    [
      ['r.call-1.a', 'part', []],
      ['r.call-1.c', 'part', ['old', 'r.call-1.a']],
    ],
  );
  for (const child of parts.ask.slice(1))
    children.set(...ended(child, child.id.endsWith('a') ? 'completed' : 'failed', `about ${child.id}`));
  const sum = breakdownStep(task, broken, children);
  assert.ok('result' in sum);
  assert.deepEqual(
    (JSON.parse(sum.result) as { parts: Record<string, string>[] }).parts.map(({ key, state, task: id }) => [
      key,
      state,
      id,
    ]),
    [
      ['a', 'completed', 'r.call-1.a'],
      ['b', 'dropped', 'old'],
      ['c', 'failed', 'r.call-1.c'],
      ['d', 'dropped', 'r.call-1.a'],
    ],
  );
});

test('all parts are done if the comparison gives no usable answer', () => {
  const broken: Breakdown = { parts: [part('a', 'A')], dropped: {}, doubtful: { a: 'old' }, known: {} };
  const asked = breakdownStep(task, broken, new Map());
  assert.ok('ask' in asked);
  for (const [state, result] of [
    ['failed', 'down'],
    ['completed', 'no JSON'],
    ['completed', '["zzz"]'],
  ] as const) {
    const step = breakdownStep(task, broken, new Map([ended(asked.ask[0]!, state, result)]));
    assert.deepEqual('ask' in step && step.ask.map((child) => child.id), ['r.call-1.same', 'r.call-1.a']);
  }
});
