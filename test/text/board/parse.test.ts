/** The grammar of boards: items, text that is never an item, and isolation of bad entries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APPROVALS, REDIS } from '../../kit/boards.js';
import { inLinearTime } from '../../kit/linear.js';
import { lintBoard } from '../../../src/text/board/lint.js';
import { itemKey, parseBoard, type Board, type Item } from '../../../src/text/board/parse.js';

const board = (...lines: string[]): Board => parseBoard(`## TODO\n\n${lines.join('\n')}\n`, 'plan.task.md');
const only = (...lines: string[]): Item => {
  const { items, problems } = board(...lines);
  assert.deepEqual(
    problems.map((p) => p.message),
    [],
  );
  assert.equal(items.length, 1);
  return items[0]!;
};
const lints = (b: Board): string[] => b.problems.map((p) => p.lint);
const fields = (item: Item): Record<string, unknown> => Object.fromEntries(item.fields.map((f) => [f.key, f.value]));

test('an approval is read completely', () => {
  const { items, problems } = parseBoard(APPROVALS, 'approvals.task.md');
  assert.deepEqual(problems, []);
  const [item] = items as [Item];
  assert.equal(item.title, 'Approve command: docker ps');
  assert.equal(item.box, 'open');
  assert.equal(item.priority, 'A');
  assert.deepEqual(item.stakeholders, ['human']);
  assert.deepEqual(item.tags, ['approval']);
  assert.equal(item.id, 'approval-1759622866331-8228eefd');
  assert.equal(fields(item)['description'], 'Details:\n  Command: docker ps');
});

test('a remark after a value is part of the value', () => {
  const item = only(
    '- [_] A @human #approval `Approve command: podman ps`',
    '  id: approval-1759642374890-3909a14c',
    '  type: approval_request',
    '  agent: executor-001-9b78e6d8           # session id, not agent id',
    '  risk: LOW',
    '  status: pending',
  );
  assert.equal(fields(item)['type'], 'approval_request');
  assert.equal(fields(item)['agent'], 'executor-001-9b78e6d8           # session id, not agent id');
});

test('nested tasks know their parents, and a completion time does not override the box', () => {
  const { items, problems } = parseBoard(REDIS, 'redis.task.md');
  assert.deepEqual(problems, []);
  assert.deepEqual(
    items.map((item) => [item.id, item.box, item.priority, item.parent?.id, item.stakeholders[0]]),
    [
      ['task-001', 'done', 'A', undefined, 'planner-001'],
      ['task-002', 'open', 'B', 'task-001', 'retriever-001'],
      ['task-003', 'open', 'C', 'task-001', 'executor-001'],
      ['task-004', 'open', 'A', undefined, 'evaluator-001'],
    ],
  );
  assert.equal(fields(items[0]!)['completed'], '2025-10-04T10:05:00Z');
  assert.equal(fields(items[2]!)['approval_required'], true);
});

test('every spelling of the box is read', () => {
  const boxes: [string, Item['box']][] = [
    ['', 'open'],
    ['[ ] ', 'open'],
    ['[_] ', 'open'],
    ['[/] ', 'doing'],
    ['[x] ', 'done'],
    ['[X] ', 'done'],
    ['x ', 'done'],
    ['[-] ', 'skipped'],
    ['- ', 'skipped'],
  ];
  for (const [written, box] of boxes) assert.equal(only(`- ${written}"Do it"`).box, box, written);
});

test('prefixes may come in any order', () => {
  for (const line of ['- A [x] @ana #ops @ben "T"', '- @ana #ops @ben [x] A "T"', '- #ops x A @ana @ben "T"']) {
    const item = only(line);
    assert.deepEqual([item.box, item.priority, item.stakeholders, item.tags], ['done', 'A', ['ana', 'ben'], ['ops']]);
  }
});

test('titles may have any kind of quotes, or none', () => {
  const titles: [string, string][] = [
    ['"say \\"hi\\" \\\\ bye"', 'say "hi" \\ bye'],
    ['"C:\\new"', 'C:\\new'],
    ['`say "hi"`', 'say "hi"'],
    ['``a ` b``', 'a ` b'],
    ["'it\\'s'", "it's"],
    ['Buy milk at 10:30 from http://shop', 'Buy milk at 10:30 from http://shop'],
    ['fix issue #12', 'fix issue #12'],
    ['I am here', 'I am here'],
    ['Groceries:', 'Groceries:'],
    ['Do these things:', 'Do these things:'],
    ['see [the docs](http://x)', 'see [the docs](http://x)'],
    ['buy milk <!-- the good one -->', 'buy milk'],
  ];
  for (const [written, title] of titles) assert.equal(only(`- [ ] ${written}`).title, title);
});

test('values may be on the line, below it, or in blocks', () => {
  const item = only(
    '- "T" id: t1 due: 2025-01-02 count: 3 ok: true note: "a b: c" zip: 00123',
    '  plain: two words: and more',
    '  quoted: "true"',
    '  empty:',
    '  block: |',
    '    ## not a heading',
    '',
    '      - [x] not an item',
    '    ```',
    '    end',
    '',
    '  after: yes',
  );
  assert.deepEqual(fields(item), {
    id: 't1',
    due: '2025-01-02',
    count: 3,
    ok: true,
    note: 'a b: c',
    zip: '00123',
    plain: 'two words: and more',
    quoted: 'true',
    empty: '',
    block: '## not a heading\n\n  - [x] not an item\n```\nend',
    after: 'yes',
  });
});

test('title, tags and stakeholders may be given as keys', () => {
  const item = only('- [x] @ana id: t1', '  title: The real one', '  tags: a, #b', '  stakeholders: ben, @cy');
  assert.equal(item.title, 'The real one');
  assert.deepEqual(item.tags, ['a', 'b']);
  assert.deepEqual(item.stakeholders, ['ana', 'ben', 'cy']);
});

test('a tab counts as two spaces; CRLF and a byte order mark change nothing', () => {
  const text = `\ufeff## todo\r\n\r\n- [ ] "A"\r\n\tid: a\r\n\t- [x] "B"\r\n\t\ttext: |\r\n\t\t\tone\r\n\r\n\t\t\t  two\r\n\t\tid: b\r\n`;
  const { items, problems, eol } = parseBoard(text, 'x.task.md');
  assert.deepEqual(problems, []);
  assert.equal(eol, '\r\n');
  assert.deepEqual(
    items.map((item) => [item.title, item.id, item.parent?.id, item.inTodo]),
    [
      ['A', 'a', undefined, true],
      ['B', 'b', 'a', true],
    ],
  );
  assert.equal(fields(items[1]!)['text'], 'one\n\n  two');
});

test('a field after children belongs to their parent', () => {
  const { items } = board('- "A"', '  - "B"', '  id: a');
  assert.deepEqual(
    items.map((item) => item.id),
    ['a', undefined],
  );
});

test('only bullets in TODO sections are tasks; others are prose and never reported', () => {
  const { items, problems } = parseBoard(
    '# Plan\n- zero\n\n## TODO\n- one\n### Sub\n- two\n\n## Notes\n- ask @bob about x: y\n- three\n\n## todo ##\n- four\n',
    'x.task.md',
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(
    items.map((item) => [item.title, item.inTodo]),
    [
      ['zero', false],
      ['one', true],
      ['two', true],
      ['ask @bob about x: y', false],
      ['three', false],
      ['four', true],
    ],
  );
});

test('bullets in fences, comments, front matter and blocks are text', () => {
  const hidden = [
    ['```', '- [x] "no"', '```'],
    ['~~~~ md', '- [x] "no"', '~~~', '- [x] "no"', '~~~~'],
    ['<!--', '- [x] "no"', '-->'],
    ['Some words <!-- that hide', '- [x] "no"', 'this --> part'],
    ['- "host"', '  text: |', '    - [x] "no"', '  ```', '  - [x] "no"', '  ```'],
    ['- "host"', '  <!-- note', '- [x] "no"', '  -->'],
    ['- <!-- - [x] "no" -->'],
    ['- <!-- begins', '- [x] "no"', '-->'],
    ['---', '* no', '- - -', '* * *', '+ no', '1. [x] "no"'],
  ];
  for (const lines of hidden) {
    const { items } = board(...lines, '', '- "yes"');
    assert.deepEqual(
      items.map((item) => item.title).filter((title) => title !== 'host'),
      ['yes'],
      lines.join('\n'),
    );
  }
  const front = parseBoard('---\ntags:\n  - "no"\n---\n## TODO\n- "yes"\n', 'x.task.md');
  assert.deepEqual(
    front.items.map((item) => [item.title, item.line]),
    [['yes', 6]],
  );
});

test('an unclosed fence, comment or quote is reported and hides as little as possible', () => {
  const fence = board('- "A"', '  ```', '  - [x] "no"', '- "B"');
  assert.deepEqual(
    fence.items.map((item) => item.title),
    ['A', 'B'],
  );
  assert.deepEqual(lints(fence), ['TD092']);
  const comment = board('- "A"', '<!-- oops', '- [x] "no"');
  assert.deepEqual(
    comment.items.map((item) => item.title),
    ['A'],
  );
  assert.deepEqual(lints(comment), ['TD091']);
  assert.deepEqual(board('- "A"', 'a stray <!-- in prose', '- "B"').items.length, 2);
});

test('each error has a code and a caret, and rejects only its own entry', () => {
  const mistakes: [string, string[], number][] = [
    ['TD001', ['- [x] "open'], 7],
    ['TD001', ['- [x] "T"', '  note: "open'], 9],
    ['TD002', ['- [x] `open'], 7],
    ['TD003', ["- [x] 'open"], 7],
    ['TD010', ['- [x] @an!a "T"'], 7],
    ['TD011', ['- [x] "T" #la!te'], 11],
    ['TD012', ['- [x] "T" B'], 11],
    ['TD012', ['- [x] E "T"'], 7],
    ['TD012', ['- A B "T"'], 5],
    ['TD013', ['- [x] [-] "T"'], 7],
    ['TD014', ['- [y] "T"'], 3],
    ['TD014', ['- [ x ] "T"'], 3],
    ['TD014', ['- [] "T"'], 3],
    ['TD020', ['- [x] Fix login id: today'], 17],
    ['TD021', ['- [x] "T" stray'], 11],
    ['TD030', ['- [x] "T"', '   id: t'], 4],
    ['TD031', ['- [x]'], 6],
    ['TD031', ['-'], 2],
    ['TD031', ['- [x] id: t'], 7],
    ['TD032', ['', 'prose', '  - [x] "T"'], 3],
    ['TD040', ['- [x] "T"', '  list:', '    - [x] "no"'], 3],
    ['TD041', ['- [x] "T"', '  text: | here', '    - [x] "no"'], 9],
    ['TD051', ['- [x] "T" id: a', '  id: b'], 3],
    ['TD093', ['- [x] T <!-- hides', '- [x] "no"', '-->'], 9],
  ];
  for (const [lint, lines, column] of mistakes) {
    const b = board('- "before"', ...lines, '- "after"');
    assert.deepEqual(lints(b), [lint], lines.join('\n'));
    assert.deepEqual(
      b.items.map((item) => item.title),
      ['before', 'after'],
      lines.join('\n'),
    );
    const { where } = b.problems[0]!;
    assert.equal(where?.file, 'plan.task.md');
    assert.equal(where?.column, column, lines.join('\n'));
    assert.ok(lines.includes(where?.source ?? '?'), 'the source line is quoted');
  }
});

test('everyday titles are titles, and marks at their end count', () => {
  for (const [line, title, tags = [], people = []] of [
    ['- [ ] Fix: colon in title', 'Fix: colon in title'],
    ['- [ ] Time: 10:30', 'Time: 10:30'],
    ['- [ ] Fix login due: today', 'Fix login due: today'],
    ['- [ ] see https://example.org #web', 'see https://example.org', ['web']],
    ['- [ ] call @jane', 'call', [], ['jane']],
    ['- [ ] ask @bob about it #a #b @ana', 'ask @bob about it', ['a', 'b'], ['ana']],
    ['- [ ] Fix #42', 'Fix #42'],
    ['- [ ] C# is a language; learn it', 'C# is a language; learn it'],
    ['* [ ] a star', 'a star'],
    ['+ [x] a plus', 'a plus'],
    ['- [ ] "Quoted" #late @ana id: x1 ; a note', 'Quoted', ['late'], ['ana']],
  ] as const) {
    const { items } = board(line);
    assert.deepEqual(
      items.map((item) => [item.title, item.tags, item.stakeholders]),
      [[title, tags, people]],
      line,
    );
  }
});

test('a comment after a value is not part of it, except after a command', () => {
  const { items, problems } = board(
    '- [ ] "T" id:c1 priority: A ; why not',
    '  depends_on: a, b ; both',
    '  description: "x ; y" ; a note',
    '  note: ; nothing',
    '  command: make ; make install',
    '  see: http://example.org',
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(
    items[0]!.fields.map(({ key, value }) => [key, value]),
    [
      ['id', 'c1'],
      ['priority', 'A'],
      ['depends_on', 'a, b'],
      ['description', 'x ; y'],
      ['note', ''],
      ['command', 'make ; make install'],
      ['see', 'http://example.org'],
    ],
  );
});

test('a TODO heading of any level starts a section, and one of its level ends it', () => {
  const text =
    '# Mine\n\n### Todo\n- one\n#### Group\n- two\n### In Progress\n- three\n## TODO\n- four\n# End\n- five\n';
  assert.deepEqual(
    parseBoard(text, 'x.task.md').items.map((item) => [item.title, item.inTodo]),
    [
      ['one', true],
      ['two', true],
      ['three', false],
      ['four', true],
      ['five', false],
    ],
  );
});

test('a warning does not reject its entry', () => {
  for (const [lint, lines] of [
    ['TD033', ['- "T"', '    - "far"']],
    ['TD042', ['- "T"', '  text: |', '  id: t']],
    ['TD100', ['- "T" note: two words']],
  ] as const) {
    const b = board(...lines);
    assert.deepEqual(lints(b), [lint]);
    assert.equal(b.rejected.length, 0);
  }
});

test('two entries with the same id are both rejected', () => {
  const b = board('- [x] "A" id: same', '- "B" id: other', '- [-] "C" id: same');
  assert.deepEqual(
    b.items.map((item) => item.id),
    ['other'],
  );
  assert.deepEqual(lints(b), ['TD050', 'TD050']);
});

test('a board with merge conflicts is rejected completely', () => {
  const b = parseBoard('## TODO\n<<<<<<< HEAD\n- [x] "A"\n=======\n- "A"\n>>>>>>> theirs\n', 'x.task.md');
  assert.equal(b.items.length, 0);
  assert.equal(lints(b)[0], 'TD090');
});

test('the key of an item without an id is stable and unique', () => {
  const before = board('- "A"', '- "A"', '- "B"', '  - "A"').items.map(itemKey);
  const after = board('- "new"', '- [x] A "A"', '  note: x', '- "A"', '- [/] "B"', '  - "A"').items.map(itemKey);
  assert.deepEqual(after.slice(1), before);
  assert.equal(new Set(before).size, 4);
});

test('a hundred thousand bullets are read in linear time', () => {
  const bullet = (_: unknown, i: number): string => `- [ ] B @exec #tag "Task ${i}" id: task-${i}\n`;
  const text = `## TODO\n${Array.from({ length: 100_000 }, bullet).join('')}`;
  assert.equal(inLinearTime('bullets', () => parseBoard(text, 'x.task.md')).items.length, 100_000);
});

test('hostile lines are read in linear time', () => {
  const blanks = ' '.repeat(1_000_000);
  for (const line of [
    `- [${blanks}`,
    `- [ ]${blanks}x`,
    `- "T" ${'a: '.repeat(300_000)}`,
    `- "T" ${'a: x y '.repeat(300_000)}`,
    `- "T" ${'a: "x" '.repeat(300_000)}`,
    `- "T" ${'a: |'.repeat(300_000)}`,
    `- "T" ${'<!-- --> '.repeat(300_000)}`,
    `- ${'[?] '.repeat(300_000)}"T"`,
    `- ${'[x] '.repeat(300_000)}"T"`,
    `- ${'A '.repeat(300_000)}"T"`,
    `- ${'@a '.repeat(300_000)}"T"`,
    `- ${'`'.repeat(1_000_000)}`,
    `- ${'` `` '.repeat(300_000)}`,
    `- word${' a:'.repeat(300_000)}`,
    `- -${' -'.repeat(300_000)}x`,
    `# ${blanks}#`,
    `#${' #'.repeat(300_000)}x`,
    '- "T" a:\n  a:\n'.repeat(100_000),
    '- "unclosed\n'.repeat(100_000),
    `- "T" id: same\n`.repeat(100_000),
    `- "T"\n  key:\n${'\n'.repeat(300_000)}`,
    `- "T"\n  key: |\n${'    text\n'.repeat(300_000)}`,
    `- "T"\n${'  key:\n'.repeat(100_000)}`,
    `- "T"\n${'  ```\n'.repeat(100_000)}`,
    '<!--\n'.repeat(100_000),
  ]) {
    inLinearTime(JSON.stringify(line.slice(0, 20)), () => parseBoard(`## TODO\n${line}\n`, 'x.task.md'));
  }
});

test('a board with a warning on every line is linted in linear time', () => {
  const text = `## TODO\n${'- [ ] "T" completed: true\n'.repeat(100_000)}`;
  const problems = inLinearTime('lint', () => lintBoard(text, 'x.task.md'));
  assert.equal(problems.length, 100_000);
  assert.equal(problems.at(-1)?.where?.line, 100_001);
});

test('at most twenty errors and twenty warnings of one line are reported', () => {
  const b = board(`- "T" ${'a: x y '.repeat(30)}${'b: c '.repeat(30)}`, '- "neighbour"');
  const count = (severity: string): number => b.problems.filter((problem) => problem.severity === severity).length;
  assert.deepEqual([count('error'), count('warning')], [20, 20]);
  assert.deepEqual(
    b.items.map((item) => item.title),
    ['neighbour'],
  );
});
