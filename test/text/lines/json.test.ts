/** Strict JSON: errors with their place, and limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { jsonOffset, parseJson } from '../../../src/text/lines/json.js';
import { problemText } from '../../../src/domain/problem.js';

test('the output of JSON.stringify reads back the same', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      const parsed = parseJson(text, 'x.json', { depth: 1000 });
      assert.ok(parsed.ok, text);
      assert.deepEqual(parsed.value, JSON.parse(text));
    }),
  );
});

test('text is accepted exactly if JSON.parse accepts it and no key is repeated', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b"',
    '"\\u0061"',
    '1',
    '-',
    'true',
    ' ',
    '"',
    '\\',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      const parsed = parseJson(text, 'x.json');
      let plain: unknown;
      try {
        plain = JSON.parse(text);
      } catch {
        // A repeated key is still an error when the rest of the text has arrived.
        assert.ok(!parsed.ok && (parsed.torn || / twice/.test(parsed.problem.message)), text);
        return;
      }
      if (parsed.ok) assert.deepEqual(parsed.value, plain);
      else assert.match(parsed.problem.message, /twice/);
    }),
    { numRuns: 3000 },
  );
});

const faults: [string, string, RegExp, string, boolean][] = [
  ['a repeated key', '{"a": 1,\n "a": 2}', /"a" appears twice/, '2:2', false],
  ['a repeated key by escape', '{"id": 1, "\\u0069d": 2}', /"id" appears twice/, '1:11', false],
  ['a repeated key deep inside', '{"x": [{"a": 1, "a": 1}]}', /twice/, '1:17', false],
  ['a number that is too large', '{"a": 1e400}', /too large/, '1:7', false],
  ['a missing comma', '{"a": 1\n "b": 2}', /expected "," or "}"/, '2:2', true],
  ['a repeated key before a torn end', '{"a": 1, "a"', /"a" appears twice/, '1:10', false],
  ['a torn end', '{"a": "b', /does not end/, '1:7', true],
  ['an early end', '{"a":', /the text ends where a value should be/, '1:6', true],
  ['an early end, then a newline', '{"a": 1\n', /the text ends where/, '1:8', true],
  ['a trailing comma', '[1, ]', /expected a value/, '1:5', true],
  ['two documents', '{}\n{}', /unexpected text after/, '2:1', true],
  ['a comment', '// x\n{}', /expected a value/, '1:1', true],
  ['a raw line break in a string', '{"a": "x\ny"}', /contains a line break/, '1:7', true],
];
for (const [what, text, message, place, torn] of faults) {
  test(`${what} is reported with its place`, () => {
    const parsed = parseJson(text, 'x.json');
    assert.ok(!parsed.ok);
    assert.match(parsed.problem.message, message);
    assert.equal(`${parsed.problem.where?.line}:${parsed.problem.where?.column}`, place);
    assert.equal(parsed.torn, torn);
    assert.match(problemText(parsed.problem), /\^/);
  });
}

test('nesting is limited', () => {
  assert.ok(parseJson('['.repeat(64) + ']'.repeat(64), 'x').ok);
  for (const depth of [65, 60_000]) {
    const parsed = parseJson('['.repeat(depth) + ']'.repeat(depth), 'x');
    assert.ok(!parsed.ok && !parsed.torn);
    assert.equal(parsed.problem.code, 'over_limit');
  }
});

test('a byte order mark is accepted and moves no column', () => {
  assert.ok(parseJson('\uFEFF{"a": 1}', 'x').ok);
  const parsed = parseJson('\uFEFF{"a" 1}', 'x');
  assert.ok(!parsed.ok);
  assert.equal(parsed.problem.where?.column, 6);
  assert.equal(parsed.problem.where?.source, '{"a" 1}');
});

test('__proto__ is an ordinary key', () => {
  const parsed = parseJson('{"__proto__": {"x": 1}, "a": 2}', 'x');
  assert.ok(parsed.ok);
  assert.equal((parsed.value as { x?: number }).x, undefined);
  assert.deepEqual(Object.keys(parsed.value as object), ['__proto__', 'a']);
});

test('a place is found by its path', () => {
  const text = '{"a": {"b": [1, {"c": true}]}}';
  assert.equal(jsonOffset(text, ['a', 'b']), text.indexOf('"b"'));
  assert.equal(jsonOffset(text, ['a', 'b', 1, 'c']), text.indexOf('"c"'));
  assert.equal(jsonOffset(text, ['a', 'z']), undefined);
});

test('the quoted source line cannot drive the terminal', () => {
  const parsed = parseJson('{"a": "\u001b[2J\u202e" x}', 'x.json');
  assert.ok(!parsed.ok);
  assert.doesNotMatch(problemText(parsed.problem), /[\u001b\u202e]/);
});
