/** Server-sent events are parsed in any chunking. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { eventReader } from '../../../src/adapters/models/ai-sdk/sse.js';

function read(pieces: string[]): string[] {
  const events: string[] = [];
  const reader = eventReader((data) => events.push(data));
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return events;
}

test('events are parsed as the standard requires', () => {
  assert.deepEqual(read(['data: a\n\ndata:b\ndata: c\n\n: no\n\nevent: x\nid: 1\ndata: d\r\n\r\ndata\r\rdata: e']), [
    'a',
    'b\nc',
    'd',
    '',
    'e',
  ]);
  assert.deepEqual(read(['\uFEFFdata: a\n\n']), ['a']);
});

test('the text may be split anywhere', () => {
  const bit = fc.constantFrom('data: ', 'data:', 'x', '\n', '\r', '\r\n', '\n\n', ': c', 'event: y', 'ü');
  fc.assert(
    fc.property(fc.array(fc.tuple(bit, fc.boolean()), { maxLength: 40 }), (bits) => {
      const text = bits.map(([text]) => text).join('');
      const pieces = bits.reduce<string[]>(
        (all, [text, cut]) => (cut || all.length === 0 ? [...all, text] : [...all.slice(0, -1), all.at(-1)! + text]),
        [],
      );
      assert.deepEqual(read(pieces), read([text]));
      assert.deepEqual(read([...text]), read([text]));
    }),
  );
});
