/** Columns of a terminal: wide letters take two, accents none, and no character is cut in half. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { fc } from '../../kit/properties.js';
import { columnsOf, cutTo, endOf } from '../../../src/cli/render/columns.js';
import { fitted, table } from '../../../src/cli/render/layout.js';

test('widths of typical texts', () => {
  for (const [text, columns] of [
    ['plain', 5],
    ['Grüße → …', 9],
    ['你好', 4],
    ['e\u0301', 1],
    ['🙂', 2],
    ['ｗｉｄｅ', 8],
    ['├─ │', 4],
    ['🇩🇪', 2],
    ['👍🏽', 2],
    ['👨\u200d👩\u200d👧', 2],
    ['❤\ufe0f', 2],
    ['1\ufe0f\u20e3', 2],
    ['नि', 2],
    ['ｶﾞ', 2],
  ] as const)
    assert.equal(columnsOf(text), columns, text);
});

test('every assigned character is as wide as the string-width package says', () => {
  const mistakes: string[] = [];
  for (let code = 0x20; code < 0x40000; code++) {
    // A sample is enough for the large blocks.
    if (
      code % 97 !== 0 &&
      /[\u3400-\u9fff\uac00-\ud7a3\ue000-\uf8ff\u{17000}-\u{18aff}\u{20000}-\u{3ffff}]/u.test(
        String.fromCodePoint(code),
      )
    )
      continue;
    const char = String.fromCodePoint(code);
    if (!/\p{Assigned}/u.test(char) || /\p{Cs}/u.test(char)) continue;
    if (columnsOf(char) !== stringWidth(char)) mistakes.push(`U+${code.toString(16)}: ${columnsOf(char)}`);
  }
  assert.deepEqual(mistakes, []);
});

test('a cut text fits and is a prefix of the original', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', 'ü', '你', '🙂', '👍🏽', '🇩🇪', 'e\u0301', '│') });
  fc.assert(
    fc.property(text, fc.nat(30), (input, width) => {
      const cut = cutTo(input, width);
      assert.ok(columnsOf(cut) <= width);
      assert.ok(input.startsWith(cut) && !/[\ud800-\udbff]$/.test(cut));
      const end = endOf(input, width);
      assert.ok(columnsOf(end) <= width && input.endsWith(end) && !/^[\udc00-\udfff]/.test(end));
      assert.ok(columnsOf(fitted(input, width + 1)) <= width + 1);
      assert.ok(columnsOf(input) > width || cut === input, 'what fits is whole');
    }),
  );
});

test('the indentation of a tree is kept, and a line break becomes one blank', () => {
  assert.equal(fitted('│     └─ a\n     b', 40), '│     └─ a b');
  assert.deepEqual(
    table(
      [
        ['你好', 'x'],
        ['abcdef', 'y'],
      ],
      40,
    ),
    ['你好    x', 'abcdef  y'],
  );
});

test('a long text is measured as its parts are, in linear time', () => {
  const parts = ['你好', 'e\u0301', '👨\u200d👩\u200d👧', '🇩🇪', '1\ufe0f\u20e3', 'plain'];
  const text = Array.from({ length: 20_000 }, (_, n) => parts[n % parts.length]).join('');
  const columns = Array.from({ length: 20_000 }, (_, n) => columnsOf(parts[n % parts.length]!));
  const before = process.cpuUsage();
  assert.equal(
    columnsOf(text),
    columns.reduce((sum, each) => sum + each, 0),
  );
  assert.equal(cutTo(text, 40), text.slice(0, cutTo(text, 40).length));
  const { user } = process.cpuUsage(before);
  assert.ok(user < 3_000_000, `${user / 1000} ms of processor time`);
});
