/** Quoted text is fenced by a tag that it cannot contain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fence, unfenced } from '../../../src/rules/patterns/gather.js';

const tagOf = (quoted: string): string => /^<(\w+)/.exec(quoted)![1]!;

test('a tag ends in four characters, and the closing one is the same', () => {
  const quoted = fence('result', 'ana', 'It is done.', 'top');
  assert.match(quoted, /^<(result__[0-9a-z]{4}) agent="ana">\nIt is done\.\n<\/\1>$/);
  assert.equal(unfenced(quoted), 'It is done.');
});

test('a text that contains every short tag gets a longer one', () => {
  const keys = Array.from({ length: 36 ** 4 }, (_, n) => `__${n.toString(36).padStart(4, '0')}`);
  const text = keys.join('');
  const tag = tagOf(fence('result', 'ana', text, 'top'));
  assert.match(tag, /^result__[0-9a-z]{5,11}$/);
  assert.ok(!text.includes(tag.slice('result'.length)));
});
