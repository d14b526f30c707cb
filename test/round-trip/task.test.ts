import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../kit/properties.js';
import { PROBLEM_CODES } from '../../src/domain/problem.js';
import { makeTask, type Task } from '../../src/domain/task/task.js';
import { parseTask, printTask } from '../../src/text/records/task.js';

const count = fc.nat();
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\u2028', '\ud800', 'a\r\nb', '__proto__'),
);
const id = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,30}$/);
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const optional = { requiredKeys: [] as [], noNullPrototype: true };

const budget = fc.record(
  { turns: count, tokens: count, microUsd: count, timeMs: count, toolCalls: count, children: count },
  optional,
);
const usage = fc
  .record({
    turns: count,
    toolCalls: count,
    inputTokens: count,
    outputTokens: count,
    cachedTokens: count,
    microUsd: count,
    busyMs: count,
    children: count,
  })
  .map((fields) => ({ ...fields }));
const where = fc.record(
  { file: text, line: count, column: count, source: text },
  { requiredKeys: ['file'], noNullPrototype: true },
);
const error = fc.record(
  { code: fc.constantFrom(...PROBLEM_CODES), message: text, where, hint: text },
  { requiredKeys: ['code', 'message'], noNullPrototype: true },
);

const task: fc.Arbitrary<Task> = fc
  .record(
    {
      id,
      parent: id,
      root: id,
      depth: count,
      role: text,
      type: text,
      description: text.filter((description) => description.trim() !== ''),
      to: id,
      from: text,
      requirements: fc.array(text),
      dependencies: fc.array(id),
      context: fc.dictionary(fc.oneof(id, fc.constant('__proto__')), json).map((context) => ({ ...context })),
      priority: fc.constantFrom('A', 'B', 'C', 'D'),
      budget,
      created_by: text,
      created_at: text,
      claimed_by: text,
      claimed_at: text,
      attempts: count,
      session: id,
      waits: fc.record({ tasks: fc.array(id), until: text }, optional),
      result: text,
      error,
      ended_at: text,
      usage,
      own_usage: usage,
      extra: fc
        .dictionary(
          id.map((name) => `x_${name}`),
          json,
          { minKeys: 1 },
        )
        .map((extra) => ({ ...extra })),
    },
    { requiredKeys: ['id', 'description', 'created_at'], noNullPrototype: true },
  )
  .map((fields) => {
    const complete = { root: fields.parent ?? fields.id, depth: fields.parent ? 1 : 0, role: 'root', ...fields };
    return makeTask(complete);
  });

test('a printed task is read back as the same task', () => {
  fc.assert(
    fc.property(task, (input) => {
      const read = parseTask(Buffer.from(printTask(input)), { file: 'x.json', name: 'other', now: 'never' });
      assert.ok(read.kind === 'task', JSON.stringify(read));
      assert.deepStrictEqual(read.task, input);
    }),
    { numRuns: 500 },
  );
});

test('printing a parsed task gives the same bytes', () => {
  fc.assert(
    fc.property(task, (input) => {
      const printed = printTask(input);
      const read = parseTask(Buffer.from(printed), { file: 'x.json', name: 'other', now: 'never' });
      assert.ok(read.kind === 'task');
      assert.equal(printTask(read.task), printed);
    }),
  );
});

test('a task cut short at any byte is never a task', () => {
  const bytes = Buffer.from(
    printTask(makeTask({ id: 'a', description: 'Größe ✓', created_at: 'now', extra: { b: [1] } })),
  );
  for (let cut = 0; cut < bytes.length - 2; cut++) {
    const read = parseTask(bytes.subarray(0, cut), { file: 'x.json', name: 'a', now: 'never' });
    assert.notEqual(read.kind, 'task', `cut at ${cut}`);
  }
});
