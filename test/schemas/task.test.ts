/** The reader of task records is written by hand; it and the schema accept the same records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskRecord } from '../../src/schemas/task.js';
import { readValue } from '../../src/text/schema/read.js';
import { KNOWN, readFields } from '../../src/text/records/task-fields.js';
import { fc } from '../kit/properties.js';

test('the reader and the schema know the same keys, in the same order', () => {
  assert.deepEqual(
    Object.keys(taskRecord.shape).filter((key) => key !== 'parent_id'),
    [...KNOWN],
  );
});

const scalar = fc.constantFrom<unknown>(
  'x',
  'a/b',
  '@ana',
  '../x',
  '',
  ' ',
  'B',
  'High',
  3,
  -1,
  1.5,
  '200k',
  true,
  null,
);
const inner = fc.dictionary(
  fc.constantFrom(
    ...['original_goal', 'turns', 'usd', 'time_ms', 'toolCalls', 'tasks', 'until', 'budget', 'at', 'agent', 'messages'],
    ...['code', 'message', 'where', 'hint', 'file', 'line', 'input_tokens', 'open', 'of'],
  ),
  fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), fc.dictionary(fc.constantFrom('file', 'line'), scalar)),
  { maxKeys: 4 },
);
const value = fc.oneof(scalar, inner, fc.array(fc.oneof(scalar, inner), { maxLength: 2 }));
const record = fc.dictionary(fc.constantFrom(...Object.keys(taskRecord.shape), 'ticket'), value, { maxKeys: 4 });

test('the reader and the schema accept the same records', () => {
  const places = { key: () => ({ file: '' }), value: () => ({ file: '' }) };
  fc.assert(
    fc.property(record, fc.boolean(), (given, described) => {
      const whole = described ? { description: 'Sweep', ...given } : given;
      const { problems } = readValue(taskRecord, whole, places);
      const read = readFields(whole);
      assert.equal(read.ok, problems.length === 0, JSON.stringify([whole, read, problems]));
    }),
    { numRuns: 5000 },
  );
});
