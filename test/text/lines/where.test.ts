/** Places in a text: line, column and a printable source line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { placesIn, whereAt } from '../../../src/text/lines/where.js';
import { inLinearTime } from '../../kit/linear.js';

test('a place has line, column and source line, for every kind of line end', () => {
  const text = '\uFEFFone\r\ntwo\n\nthree\r';
  assert.deepEqual(whereAt('f', text, 1), { file: 'f', line: 1, column: 1, source: 'one' });
  assert.deepEqual(whereAt('f', text, 3), { file: 'f', line: 1, column: 3, source: 'one' });
  assert.deepEqual(whereAt('f', text, 7), { file: 'f', line: 2, column: 2, source: 'two' });
  assert.deepEqual(whereAt('f', text, 10), { file: 'f', line: 3, column: 1, source: '' });
  assert.deepEqual(whereAt('f', text, 999), { file: 'f', line: 4, column: 7, source: 'three' });
});

test('a long line is cut, or left out if the caret would be beyond the cut', () => {
  const text = `${'a'.repeat(240)}\r\n${'b'.repeat(241)}\n`;
  assert.equal(whereAt('f', text, 5).source, 'a'.repeat(240));
  assert.equal(whereAt('f', text, 245).source, `${'b'.repeat(240)}…`);
  assert.deepEqual(whereAt('f', text, 242 + 240), { file: 'f', line: 2, column: 241 });
});

test('single and repeated lookups find the same places', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r', '\uFEFF', '\u001b'), maxLength: 40 });
  fc.assert(
    fc.property(text, fc.integer({ min: -2, max: 45 }), (source, at) => {
      assert.deepEqual(placesIn('f', source)(at), whereAt('f', source, at));
    }),
  );
});

test('finding every place of a huge text takes linear time', () => {
  const single = 'a '.repeat(300_000);
  const many = 'a\n'.repeat(300_000);
  for (const text of [single, many]) {
    const at = placesIn('f', text);
    inLinearTime('places', () => {
      for (let i = 0; i < text.length; i += 2) at(i);
    });
  }
});
