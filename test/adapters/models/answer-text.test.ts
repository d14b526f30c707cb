/** Thoughts in a text and broken arguments, wherever they are cut and whatever they contain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArguments } from '../../../src/adapters/models/ai-sdk/text/repair.js';
import { thinkFilter } from '../../../src/adapters/models/ai-sdk/text/think-block.js';
import { fc } from '../../kit/properties.js';

function filtered(pieces: string[]): string {
  const filter = thinkFilter();
  return pieces.map((piece) => filter.push(piece)).join('') + filter.end();
}

test('a think block at the beginning is taken out, however the text is cut', () => {
  const text = '\n<think>\nHm, <b>, </thin.\n</think>\n\nThe answer has a <think> tag.';
  for (let cut = 0; cut <= text.length; cut++)
    for (let next = cut; next <= text.length; next += 5)
      assert.equal(
        filtered([text.slice(0, cut), text.slice(cut, next), text.slice(next)]),
        'The answer has a <think> tag.',
      );
});

test('any other text is shown as it is', () => {
  for (const text of ['', '<', '<thin', ' <thing>', 'I think.', 'a <think>b</think>', '  indented', '</think>x'])
    for (let cut = 0; cut <= text.length; cut++) assert.equal(filtered([text.slice(0, cut), text.slice(cut)]), text);
});

test('arguments that are JSON are read as they are', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const json = JSON.stringify(value);
      assert.deepEqual(readArguments(json), JSON.parse(json));
      assert.deepEqual(readArguments(JSON.stringify(value, null, 2)), JSON.parse(json));
    }),
  );
});

test('a repair changes no text inside the arguments', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string(), { minKeys: 1 }), (value) => {
      const json = JSON.stringify(value);
      const expected: unknown = JSON.parse(json);
      assert.deepEqual(readArguments(json.replace(/\}$/, ',\n}')), expected);
      assert.deepEqual(readArguments(JSON.stringify(json)), expected);
      assert.deepEqual(readArguments(`\`\`\`json\n${json}\n\`\`\``), expected);
    }),
  );
});

test('arguments without a plain meaning are not guessed', () => {
  for (const text of ['{', '[]', '"text"', '3', '{"a": }', 'path=a.md', '{"a":1}{"b":2}', '"{"'])
    assert.equal(readArguments(text), undefined, text);
});
