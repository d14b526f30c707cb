/** Columns of a terminal: wide letters take two, accents none, and no character is cut in half. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { columnsOf, cutTo } from '../../../src/cli/render/columns.js';
import { fitted, table } from '../../../src/cli/render/terminal.js';

test('what takes how much', () => {
  for (const [text, columns] of [
    ['plain', 5],
    ['Grüße → …', 9],
    ['你好', 4],
    ['e\u0301', 1],
    ['🙂', 2],
    ['ｗｉｄｅ', 8],
    ['├─ │', 4],
  ] as const)
    assert.equal(columnsOf(text), columns, text);
});

test('what is cut fits, and is the beginning of what there was', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', 'ü', '你', '🙂', 'e\u0301', '│') });
  fc.assert(
    fc.property(text, fc.nat(30), (given, width) => {
      const cut = cutTo(given, width);
      assert.ok(columnsOf(cut) <= width);
      assert.ok(given.startsWith(cut) && !/[\ud800-\udbff]$/.test(cut));
      assert.ok(columnsOf(fitted(given, width + 1)) <= width + 1);
      assert.ok(columnsOf(given) > width || cut === given, 'what fits is whole');
    }),
  );
});

test('the blanks of a tree stay, and a line break becomes one blank', () => {
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
