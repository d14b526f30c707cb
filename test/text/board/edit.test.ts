/** Edits of a board change only their own span and read back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MESSY } from '../../kit/boards.js';
import { addItem, type NewItem } from '../../../src/text/board/add.js';
import {
  removeFieldEdits,
  applyEdits,
  boxEdits,
  fieldEdits,
  markEdits,
  priorityEdits,
  titleEdits,
} from '../../../src/text/board/edit.js';
import type { Box } from '../../../src/text/board/item.js';
import { fieldOf, parseBoard, type Item } from '../../../src/text/board/parse.js';

const item = (text: string, title: string): Item => {
  const match = parseBoard(text, 'x.task.md').items.find((item) => item.title === title);
  assert.ok(match, `there is an item ${title}`);
  return match;
};

const setBox = (text: string, item: Item, box: Box): string => applyEdits(text, boxEdits(text, item, box));
const setField = (text: string, item: Item, key: string, value: string): string =>
  applyEdits(text, fieldEdits(text, item, key, value));

/** The lines that differ between `before` and `after`, compared from both ends. */
function changed(before: string, after: string): { from: string[]; to: string[] } {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  return { from: a.slice(head, a.length - tail), to: b.slice(head, b.length - tail) };
}

test('a tick changes three characters of one line', () => {
  const after = setBox(MESSY, item(MESSY, 'First'), 'done');
  assert.deepEqual(changed(MESSY, after), {
    from: ['- [ ] A   @ana  "First"   id: one   due: 2025-01-01'],
    to: ['- [x] A   @ana  "First"   id: one   due: 2025-01-01'],
  });
});

test('a missing box is added, and a bare one becomes a box', () => {
  const box = (line: string, to: 'open' | 'doing' | 'done' | 'skipped'): string => {
    const text = `## TODO\n${line}`;
    return setBox(text, parseBoard(text, 'x').items[0]!, to).split('\n')[1]!;
  };
  assert.equal(box('-   "T"', 'done'), '-   [x] "T"');
  assert.equal(box('- x "T"', 'open'), '- [ ] "T"');
  assert.equal(box('- - "T"', 'doing'), '- [/] "T"');
  assert.equal(box('- A [_] "T"', 'skipped'), '- A [-] "T"');
  assert.equal(box('- [_] "T"', 'open'), '- [_] "T"');
});

test('a missing field is added below the last one, before text and children', () => {
  const after = setField(MESSY, item(MESSY, 'First'), 'status', 'in review');
  assert.deepEqual(changed(MESSY, after), { from: [], to: ['  status: in review'] });
  assert.match(after, / {4}end\n {2}status: in review\n {2}A paragraph/);
  const deep = setField(MESSY, item(MESSY, 'third, by tab'), 'id', 'three');
  assert.match(deep, /\n\t- \[x\] "third, by tab"\n\t {2}id: three\nprose/);
});

test('a field is changed in place, in each form', () => {
  const first = item(MESSY, 'First');
  assert.deepEqual(changed(MESSY, setField(MESSY, first, 'note', 'plain')).to, ['  note: plain   ']);
  assert.deepEqual(changed(MESSY, setField(MESSY, first, 'due', 'next week')).to, [
    '- [ ] A   @ana  "First"   id: one   due: "next week"',
  ]);
  assert.deepEqual(changed(MESSY, setField(MESSY, first, 'text', 'short')).to, ['  text: short']);
  assert.deepEqual(changed(MESSY, setField(MESSY, first, 'note', 'a\n\nb')).to, ['  note: |', '    a', '', '    b   ']);
});

test('a value of several lines moves from the bullet to a block below it', () => {
  const text = '## TODO\r\n- "T" id: t due: x\r\n';
  const after = setField(text, item(text, 'T'), 'due', 'a\nb');
  assert.equal(after, '## TODO\r\n- "T" id: t\r\n  due: |\r\n    a\r\n    b\r\n');
});

test('removing a field removes only its own text', () => {
  const first = item(MESSY, 'First');
  assert.deepEqual(changed(MESSY, applyEdits(MESSY, removeFieldEdits(MESSY, first, 'due'))).to, [
    '- [ ] A   @ana  "First"   id: one',
  ]);
  assert.deepEqual(changed(MESSY, applyEdits(MESSY, removeFieldEdits(MESSY, first, 'note'))), {
    from: ['  note: "quoted"   '],
    to: [],
  });
  assert.equal(changed(MESSY, applyEdits(MESSY, removeFieldEdits(MESSY, first, 'text'))).from.length, 5);
  assert.equal(applyEdits(MESSY, removeFieldEdits(MESSY, first, 'absent')), MESSY);
  const last = '## TODO\n- "T"\n  id: t';
  assert.equal(applyEdits(last, removeFieldEdits(last, item(last, 'T'), 'id')), '## TODO\n- "T"');
});

test('title, priority and marks are edited in place', () => {
  const first = item(MESSY, 'First');
  const line = (after: string): string => changed(MESSY, after).to.join('\n');
  assert.equal(
    line(applyEdits(MESSY, titleEdits(MESSY, first, 'New "one"'))),
    '- [ ] A   @ana  `New "one"`   id: one   due: 2025-01-01',
  );
  assert.equal(
    line(applyEdits(MESSY, priorityEdits(MESSY, first, 'C'))),
    '- [ ] C   @ana  "First"   id: one   due: 2025-01-01',
  );
  assert.equal(
    line(applyEdits(MESSY, priorityEdits(MESSY, first, undefined))),
    '- [ ] @ana  "First"   id: one   due: 2025-01-01',
  );
  assert.equal(
    line(applyEdits(MESSY, markEdits(MESSY, first, '@', ['ben', 'cy']))),
    '- [ ] A   @ben @cy "First"   id: one   due: 2025-01-01',
  );
  assert.equal(
    line(applyEdits(MESSY, markEdits(MESSY, first, '#', ['x']))),
    '- [ ] A   @ana  #x "First"   id: one   due: 2025-01-01',
  );
  assert.equal(line(applyEdits(MESSY, titleEdits(MESSY, item(MESSY, 'second, bare'), 'x'))), '  - [/] "x"');
});

test('removing an item removes its fields, text and children, and nothing else', () => {
  const after = applyEdits(MESSY, [{ ...item(MESSY, 'First').span, text: '' }]);
  assert.match(after, /<!-- keep me -->\nprose in between\n/);
  assert.deepEqual(
    parseBoard(after, 'x').items.flatMap((item) => (item.inTodo ? [item.title] : [])),
    ['fourth'],
  );
});

test('a new item goes after the last one of its section', () => {
  const newItem: NewItem = {
    title: 'Approve command: docker ps',
    openMark: '_',
    quote: '`',
    priority: 'A',
    stakeholders: ['human'],
    tags: ['approval'],
    fields: { id: 'a-1', created: '2025-10-05T00:07:46.331Z', tries: 2, description: 'Details:\n  Command: docker ps' },
  };
  assert.deepEqual(changed(MESSY, addItem(MESSY, newItem)), {
    from: [],
    to: [
      '- [_] A @human #approval `Approve command: docker ps`',
      '  id: a-1',
      '  created: 2025-10-05T00:07:46.331Z',
      '  tries: 2',
      '  description: |',
      '    Details:',
      '      Command: docker ps',
    ],
  });
  assert.match(addItem(MESSY, newItem), / {2}id: four\n- \[_\] A @human/);
});

test('a child goes after its siblings', () => {
  const after = addItem(MESSY, { title: 'child', under: item(MESSY, 'First') });
  assert.match(after, /"third, by tab"\n {2}- \[ \] "child"\nprose/);
  assert.equal(item(after, 'child').parent?.title, 'First');
});

test('a missing heading is created, even in an empty file', () => {
  const newItem = { title: 'T' };
  assert.equal(addItem('', newItem), '## TODO\n\n- [ ] "T"\n');
  assert.equal(addItem('# Hi', newItem), '# Hi\n\n## TODO\n\n- [ ] "T"\n');
  assert.equal(addItem('## Todo\r\n\r\n## Notes\r\n', newItem), '## Todo\r\n\r\n- [ ] "T"\r\n\r\n## Notes\r\n');
  assert.equal(addItem('## TODO\nwords\n', newItem), '## TODO\nwords\n\n- [ ] "T"\n');
});

test('an unclosed fence or comment does not include a new item', () => {
  for (const text of [
    '## TODO\n- "A"\n<!-- open\n',
    '## TODO\n```\nopen\n',
    '```\nopen\n',
    '---\na: 1\n---\n<!-- open',
    '## TODO\n- "A"\n  ```\n  open\n',
    '## TODO\n- "A"\n  - "B"\n    <!-- open\n',
  ]) {
    const after = parseBoard(addItem(text, { title: 'new', fields: { id: 'n' } }), 'x');
    const match = after.items.find((item) => item.title === 'new');
    assert.ok(match?.inTodo && match.id === 'n' && !match.parent, text);
  }
  const fenced = '## TODO\n- "A"\n  id: a\n  ```\n  open\n';
  const after = addItem(fenced, { title: 'new', under: item(fenced, 'A') });
  assert.equal(item(after, 'new').parent?.title, 'A');
});

test('a key that would not read back is refused', () => {
  assert.throws(() => setField(MESSY, item(MESSY, 'First'), 'two words', 'x'), /not a valid board key/);
  assert.equal(fieldOf(item(MESSY, 'First'), 'due')?.value, '2025-01-01');
});
