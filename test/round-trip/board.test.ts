/** Random boards: parsing loses nothing, edits stay within their lines, and values read back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../kit/properties.js';
import { APPROVALS, MESSY, REDIS } from '../kit/boards.js';
import { addItem } from '../../src/text/board/add.js';
import {
  applyEdits,
  removeFieldEdits,
  boxEdits,
  fieldEdits,
  markEdits,
  titleEdits,
} from '../../src/text/board/edit.js';
import type { Box } from '../../src/text/board/item.js';
import { fieldOf, parseBoard, type Board, type Item } from '../../src/text/board/parse.js';
import { queryBoard } from '../../src/text/board/query.js';
import { blockText } from '../../src/text/board/value.js';
import { parseQuery } from '../../src/text/query/query.js';

const LINES = [
  '## TODO',
  '## Notes',
  '- [ ] A @ana #ops "One" id: one',
  '- bare title',
  '  - [x] "child"',
  '  id: below',
  '    deeper: 1',
  '  text: |',
  '    block line',
  '    ## in a block',
  '```',
  '  ```',
  '<!-- open',
  'close -->',
  '- [y] broken "',
  '- - skipped',
  '- x `done` due: 2025-01-01 note: "a b"',
  '\t- "tabbed"',
  'prose key: value',
  '---',
  '',
  '   ',
  '-',
  '<<<<<<< HEAD',
];
const line = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...LINES) }, fc.string({ maxLength: 12 }));
const anyBoard = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.constantFrom('\n', '\r\n'), fc.constantFrom('', '\ufeff'), fc.boolean())
  .map(([lines, eol, bom, ended]) => `${bom}## TODO${eol}${lines.join(eol)}${ended ? eol : ''}`);
const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    'true',
    '12',
    '00',
    '|',
    '"',
    "'",
    '`x`',
    ' pad ',
    'a: b',
    '## x',
    '- [x] "no"',
    '-->',
    '<!--',
    '```',
  ),
  fc
    .array(fc.constantFrom('', ' ', 'a', '  b', '\tc', '## d', '- e', '```', '<!--'), { maxLength: 5 })
    .map((lines) => lines.join('\n')),
  fc.integer(),
  fc.boolean(),
);
const boxes = fc.constantFrom<Box>('open', 'doing', 'done', 'skipped');
const RUNS = { numRuns: 400 };

const same = (board: Board, item: Item): Item =>
  board.items.find((candidate) => candidate.span.start === item.span.start)!;
/** Each item of a board in turn. */
function eachItem(text: string, act: (item: Item, board: Board) => void): void {
  const board = parseBoard(text, 'x.task.md');
  for (const item of board.items) act(item, board);
}

test('every span contains the value read from it', () => {
  fc.assert(
    fc.property(anyBoard, (text) => {
      assert.equal(applyEdits(text, []), text);
      eachItem(text, (item) => {
        const lines = text.slice(item.span.start, item.span.end);
        assert.match(lines, /^[ \t]*-/);
        assert.ok(item.headEnd <= item.span.end && item.lineEnd <= item.headEnd);
        for (const mark of item.marks) {
          assert.equal(text.slice(mark.span.start, mark.span.end), mark.kind + mark.name);
        }
        for (const field of item.fields) {
          assert.ok(text.slice(field.span.start).startsWith(`${field.key}:`));
          assert.ok(field.valueSpan.end === field.span.end && field.span.end <= item.span.end);
        }
      });
    }),
    RUNS,
  );
});

test('a box changes its own line only, and reads back', () => {
  fc.assert(
    fc.property(anyBoard, boxes, (text, box) => {
      eachItem(text, (item, board) => {
        const after = applyEdits(text, boxEdits(text, item, box));
        assert.equal(after.slice(0, item.bodyStart), text.slice(0, item.bodyStart));
        assert.equal(after.slice(after.length - (text.length - item.lineEnd)), text.slice(item.lineEnd));
        const again = parseBoard(after, 'x.task.md');
        assert.equal(same(again, item).box, box);
        assert.equal(again.items.length, board.items.length);
      });
    }),
    RUNS,
  );
});

test('a field changes its own lines only, and reads back', () => {
  fc.assert(
    fc.property(anyBoard, fc.constantFrom('id', 'text', 'note', 'fresh', 'due'), value, (text, key, newValue) => {
      eachItem(text, (item, board) => {
        if (key === 'id' && (newValue === '' || board.items.length + board.rejected.length > 1)) return;
        const after = applyEdits(text, fieldEdits(text, item, key, newValue));
        assert.equal(after.slice(0, item.bodyStart), text.slice(0, item.bodyStart));
        assert.equal(after.slice(after.length - (text.length - item.headEnd)), text.slice(item.headEnd));
        const again = parseBoard(after, 'x.task.md');
        const expected = typeof newValue === 'string' ? blockText(newValue) : newValue;
        assert.deepEqual(fieldOf(same(again, item), key)?.value, expected);
        assert.deepEqual(
          again.items.map((candidate) => candidate.title),
          board.items.map((candidate) => candidate.title),
        );
        const without = applyEdits(after, removeFieldEdits(after, same(again, item), key));
        assert.equal(fieldOf(same(parseBoard(without, 'x.task.md'), item), key), undefined);
      });
    }),
    RUNS,
  );
});

test('titles and marks read back', () => {
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,5}$/);
  const title = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 15 }).filter((t) => !/[\r\n]/.test(t));
  fc.assert(
    fc.property(anyBoard, title, fc.uniqueArray(name, { maxLength: 3 }), (text, heading, names) => {
      eachItem(text, (item) => {
        if (fieldOf(item, 'title')) return;
        const titled = applyEdits(text, titleEdits(text, item, heading));
        assert.equal(same(parseBoard(titled, 'x.task.md'), item).title, heading);
        const marked = applyEdits(text, markEdits(text, item, '#', names));
        assert.deepEqual([...same(parseBoard(marked, 'x.task.md'), item).tags].sort(), [...names].sort());
      });
    }),
    RUNS,
  );
});

test('a new item is found again in any file', () => {
  fc.assert(
    fc.property(
      anyBoard,
      value,
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 15 }),
      (text, note, insertion) => {
        if (text.includes('<<<<<<<')) return;
        const flat = insertion.replace(/\s*[\r\n]+\s*/g, ' ');
        const after = addItem(text, {
          title: insertion,
          box: 'done',
          tags: ['new'],
          fields: { id: 'fresh-id', note },
        });
        const added = parseBoard(after, 'x.task.md').items.find((candidate) => candidate.id === 'fresh-id');
        assert.ok(added?.inTodo);
        assert.deepEqual([added.title, added.box, added.tags, added.parent], [flat, 'done', ['new'], undefined]);
        assert.deepEqual(fieldOf(added, 'note')?.value, typeof note === 'string' ? blockText(note) : note);
      },
    ),
    RUNS,
  );
});

test('ticking and unticking restores the same bytes', () => {
  for (const text of [APPROVALS, REDIS, MESSY, REDIS.replaceAll('\n', '\r\n')]) {
    eachItem(text, (item) => {
      if (item.box !== 'done') return;
      const open = applyEdits(text, boxEdits(text, item, 'open'));
      assert.equal(applyEdits(open, boxEdits(open, same(parseBoard(open, 'x'), item), 'done')), text);
    });
  }
});

test('an update of any set of columns reads back', () => {
  const columns = fc.constantFrom<[string, string, unknown]>(
    ['priority', `'C'`, 'C'],
    ['priority', 'NULL', undefined],
    ['tags', `'q, r'`, ['q', 'r']],
    ['tags', `''`, []],
    ['stakeholders', `'ana, new'`, ['ana', 'new']],
    ['title', `'T "x"'`, 'T "x"'],
    ['due', 'NULL', undefined],
    ['due', `'a\nb'`, 'a\nb'],
    ['text', `'short'`, 'short'],
    ['text', `'l1\nl2'`, 'l1\nl2'],
    ['note', 'NULL', undefined],
    ['fresh', `'x y'`, 'x y'],
    ['in_progress', 'true', true],
  );
  const set = fc.uniqueArray(columns, { minLength: 1, maxLength: 5, selector: ([field]) => field });
  fc.assert(
    fc.property(anyBoard, set, (text, assignments) => {
      const sql = `UPDATE x.task.md SET ${assignments.map(([field, written]) => `${field} = ${written}`).join(', ')}`;
      const parsed = parseQuery(sql);
      assert.ok(parsed.ok);
      const reply = queryBoard(text, 'x.task.md', parsed.query, { all: true });
      if (!reply.ok) return assert.match(reply.problem.message, /nothing was changed|merge conflict/);
      for (const row of reply.rows) {
        for (const [field, , expected] of assignments) {
          const value = row[field];
          assert.deepEqual(Array.isArray(value) ? [...value].sort() : value, expected, field);
        }
      }
    }),
    RUNS,
  );
});
