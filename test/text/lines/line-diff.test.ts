/** Line diffs show changed places with a little context. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { lineDiff } from '../../../src/text/lines/line-diff.js';
import { fc } from '../../kit/properties.js';

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i + 1}`);
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

test('two changed lines of forty are shown with their context only', () => {
  const before = numbered(40);
  const after = before.with(1, 'second').with(37, 'thirty-eighth');
  assert.deepEqual(lineDiff(text(before), text(after)).split('\n'), [
    '@@ line 1 @@',
    '  line 1',
    '- line 2',
    '+ second',
    '  line 3',
    '  line 4',
    '  line 5',
    '@@ line 35 @@',
    '  line 35',
    '  line 36',
    '  line 37',
    '- line 38',
    '+ thirty-eighth',
    '  line 39',
    '  line 40',
  ]);
});

test('a new text is added, an emptied text is removed, an equal text shows nothing', () => {
  assert.equal(lineDiff('', 'a\nb\n'), '@@ line 1 @@\n+ a\n+ b');
  assert.equal(lineDiff('a\nb\n', ''), '@@ line 1 @@\n- a\n- b');
  assert.equal(lineDiff('a\nb', 'a\nb'), '');
  assert.equal(lineDiff('a\nb', 'a\nb\n'), '');
});

test('large unrelated texts are shown as replaced, in bounded time', () => {
  const before = numbered(20_000);
  const after = before.map((line) => `${line}!`);
  const from = process.cpuUsage();
  const lines = lineDiff(text(before), text(after)).split('\n');
  assert.ok(process.cpuUsage(from).user < 4_000_000, 'less than four seconds of processor time');
  assert.deepEqual([lines.length, lines[1], lines.at(-1)], [40_001, '- line 1', '+ line 20000!']);
});

test('the added and unchanged lines of a diff with all its context are the new text', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', '', '- c', '@@ line 1 @@'), { maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const shown = lineDiff(text(before), text(after), 100).split('\n').slice(1);
      const kept = (marks: string): string[] =>
        shown.filter((line) => marks.includes(line[0]!)).map((line) => line.slice(2));
      if (text(before) === text(after)) return assert.deepEqual(shown, []);
      assert.deepEqual(kept(' +'), after);
      assert.deepEqual(kept(' -'), before);
    }),
  );
});
