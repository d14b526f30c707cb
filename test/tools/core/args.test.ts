import assert from 'node:assert/strict';
import test from 'node:test';
import { fc } from '../../kit/properties.js';
import type { JsonSchema } from '../../../src/ports/model.js';
import { checkArgs } from '../../../src/tools/core/args.js';

const SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    share: { type: 'number' },
    deep: { type: 'boolean' },
    mode: { type: 'string', enum: ['fast', 'slow'] },
    tags: { type: 'array', items: { type: 'string' } },
    more: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
  },
  required: ['path'],
  additionalProperties: false,
};

test('valid arguments are accepted', () => {
  const fitting = [
    { path: '' },
    { path: 'x', count: 9, share: 0.5, deep: false, mode: 'fast', tags: ['a'], more: { who: 'x' } },
    { path: 'x', count: undefined },
  ];
  for (const args of fitting) assert.equal(checkArgs(SCHEMA, args), undefined);
});

test('an invalid argument is refused with the expected form', () => {
  const rows: [unknown, RegExp][] = [
    [{}, /^path is missing; send \{path: a text, count\?: a whole number/],
    [{ path: 5 }, /^path must be a text, not the number 5/],
    [{ path: null }, /^path must be a text, not nothing/],
    [{ path: 'x', count: '3' }, /^count must be a whole number, not a text/],
    [{ path: 'x', count: 1.5 }, /^count must be a whole number/],
    [{ path: 'x', count: 0 }, /^count must be at least 1/],
    [{ path: 'x', count: 10 }, /^count must be at most 9/],
    [{ path: 'x', share: NaN }, /^share must be a number/],
    [{ path: 'x', deep: 'true' }, /^deep must be true or false, not a text/],
    [{ path: 'x', mode: 'FAST' }, /^mode must be one of fast, slow, not "FAST"/],
    [{ path: 'x', tags: 'a' }, /^tags must be a list, each item a text, not a text/],
    [{ path: 'x', tags: ['a', 1] }, /^tags\[1\] must be a text/],
    [{ path: 'x', more: {} }, /^more\.who is missing/],
    [{ path: 'x', file: 'y' }, /^file is not an argument of this tool/],
    [{ path: 'x', constructor: 'y' }, /^constructor is not an argument/],
    [JSON.parse('{"path":"x","__proto__":1}'), /^__proto__ is not an argument/],
    ['path', /^the arguments must be an object, not a text/],
    [[], /^the arguments must be an object, not a list/],
    [null, /^the arguments must be an object, not nothing/],
  ];
  for (const [args, message] of rows) assert.match(checkArgs(SCHEMA, args) ?? 'let through', message);
});

test('required arguments are not looked up on prototypes', () => {
  const schema = { type: 'object', properties: { valueOf: { type: 'string' } }, required: ['valueOf'] };
  assert.match(checkArgs(schema as unknown as JsonSchema, {}) ?? '', /is missing/);
});

test('accepted arguments have the declared types', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('path', 'count', 'deep', 'x'), fc.jsonValue()), (args) => {
      if (checkArgs(SCHEMA, args) !== undefined) return;
      assert.equal(typeof args['path'], 'string');
      assert.ok(args['count'] === undefined || Number.isInteger(args['count']));
      assert.ok(args['deep'] === undefined || typeof args['deep'] === 'boolean');
      assert.ok(!('x' in args));
    }),
  );
});
