import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { eventReader } from '../../../src/adapters/models/ai-sdk/sse.js';

function read(pieces: string[]): string[] {
  const found: string[] = [];
  const reader = eventReader((data) => found.push(data));
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return found;
}

test('events are read as the standard says', () => {
  assert.deepEqual(read(['data: a\n\ndata:b\ndata: c\n\n: no\n\nevent: x\nid: 1\ndata: d\r\n\r\ndata\r\rdata: e']), [
    'a',
    'b\nc',
    'd',
    '',
    'e',
  ]);
  assert.deepEqual(read(['\uFEFFdata: a\n\n']), ['a']);
});

test('where the text is cut makes no difference', () => {
  const bit = fc.constantFrom('data: ', 'data:', 'x', '\n', '\r', '\r\n', '\n\n', ': c', 'event: y', 'ü');
  fc.assert(
    fc.property(fc.array(fc.tuple(bit, fc.boolean()), { maxLength: 40 }), (bits) => {
      const whole = bits.map(([text]) => text).join('');
      const pieces = bits.reduce<string[]>(
        (all, [text, cut]) => (cut || all.length === 0 ? [...all, text] : [...all.slice(0, -1), all.at(-1)! + text]),
        [],
      );
      assert.deepEqual(read(pieces), read([whole]));
      assert.deepEqual(read([...whole]), read([whole]));
    }),
  );
});
