/** The query language: valid and invalid queries, and how rows compare. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { problemText } from '../../../src/domain/problem.js';
import { parseQuery, select, tableOf, type Query, type Row, type Select } from '../../../src/text/query/query.js';
import { inLinearTime } from '../../kit/linear.js';

const read = (text: string): Query => {
  const parsed = parseQuery(text);
  assert.ok(parsed.ok, parsed.ok ? '' : problemText(parsed.problem));
  return parsed.query;
};
const ROWS: Row[] = [
  { id: 'a', title: 'Alpha', priority: 'A', completed: true, count: 10, tags: ['ops', 'db'], due: '2025-02-01' },
  { id: 'b', title: 'beta 100%', priority: 'B', completed: false, count: 9, tags: [], due: '2025-01-15' },
  { id: 'c', title: "it's", count: '10', tags: ['db'], note: 'true', context: { goal: 'x' } },
  { id: 'd', title: 'Delta', priority: 'A', skipped: true, note: '' },
];
const ids = (rest: string): unknown[] =>
  select(read(`SELECT * FROM tasks ${rest}`) as Select, tableOf(ROWS)).map((row) => row['id']);

test('every clause of every verb is parsed', () => {
  assert.deepEqual(
    read(`select id, title from 'my file.task.md' where a = 1 order by b desc, c asc, d limit 5 into "x y.json";`),
    {
      kind: 'select',
      fields: ['id', 'title'],
      count: false,
      from: 'my file.task.md',
      where: { kind: 'compare', field: 'a', op: '=', value: 1 },
      orderBy: [
        { field: 'b', descending: true },
        { field: 'c', descending: false },
        { field: 'd', descending: false },
      ],
      limit: 5,
      into: 'x y.json',
    },
  );
  assert.deepEqual(
    read(`UPDATE tasks/x.task.md SET a = 'it''s', b = "say ""hi""\\n", c = -1.5, d = TRUE, e = NULL WHERE id='t'`),
    {
      kind: 'update',
      from: 'tasks/x.task.md',
      set: [
        { field: 'a', value: "it's" },
        { field: 'b', value: 'say "hi"\n' },
        { field: 'c', value: -1.5 },
        { field: 'd', value: true },
        { field: 'e', value: null },
      ],
      where: { kind: 'compare', field: 'id', op: '=', value: 't' },
    },
  );
  assert.deepEqual(read(`INSERT INTO x.task.md SET title = 'T'`).kind, 'insert');
  assert.deepEqual(read('DELETE FROM x.task.md'), { kind: 'delete', from: 'x.task.md' });
});

test('the queries of the original program are parsed', () => {
  for (const text of [
    `SELECT * FROM tasks/approvals.task.md WHERE type = 'approval_request' AND completed = true`,
    `SELECT * FROM tasks/approvals.task.md WHERE id = 'approval-1759622866331-8228eefd'`,
    `UPDATE tasks.md SET completed = true WHERE id = 'task-001'`,
    `DELETE FROM tasks.md WHERE priority != 'A'`,
    `SELECT id, title FROM tasks.md WHERE tags CONTAINS 'x' LIMIT 3`,
    `SELECT * FROM tasks.md WHERE completed IS NULL ORDER BY priority ASC INTO out.task.md`,
  ]) {
    read(text);
  }
});

test('conditions match exactly the right rows', () => {
  const table: [string, string][] = [
    [`WHERE priority = 'A'`, 'ad'],
    [`WHERE priority='A'`, 'ad'],
    [`WHERE priority != 'A'`, 'bc'],
    [`WHERE priority <> 'A'`, 'bc'],
    [`WHERE completed = true`, 'a'],
    [`WHERE completed = false`, 'bcd'],
    [`WHERE completed IS NULL`, 'bcd'],
    [`WHERE skipped IS NOT NULL`, 'd'],
    [`WHERE priority IS NULL`, 'c'],
    [`WHERE note IS NULL`, 'ab'],
    [`WHERE count > 9`, 'ac'],
    [`WHERE count >= 9 AND count < 10`, 'b'],
    [`WHERE count <= 9`, 'b'],
    [`WHERE count = 10`, 'ac'],
    [`WHERE due < '2025-02-01'`, 'b'],
    [`WHERE due >= '2025-01-15'`, 'ab'],
    [`WHERE tags CONTAINS 'db'`, 'ac'],
    [`WHERE tags CONTAINS 'd'`, ''],
    [`WHERE title CONTAINS 'elt'`, 'd'],
    [`WHERE title NOT CONTAINS 'a'`, 'c'],
    [`WHERE title LIKE '%TA%'`, 'bd'],
    [`WHERE title LIKE '%100\\%'`, 'b'],
    [`WHERE title LIKE '_elta'`, 'd'],
    [`WHERE title NOT LIKE '%a'`, 'bc'],
    [`WHERE id IN ('a', 'c')`, 'ac'],
    [`WHERE id NOT IN ('a', 'c')`, 'bd'],
    [`WHERE count IN (10)`, 'ac'],
    [`WHERE NOT priority = 'A'`, 'bc'],
    [`WHERE NOT (priority = 'A' AND completed = true)`, 'bcd'],
    [`WHERE id = 'a' OR id = 'b' AND completed = true`, 'a'],
    [`WHERE (id = 'a' OR id = 'b') AND completed = false`, 'b'],
    [`WHERE title = 'it''s'`, 'c'],
    [`WHERE title = "it's"`, 'c'],
    [`WHERE note = 'true'`, 'c'],
    [`WHERE context.goal = 'x'`, 'c'],
    [`WHERE toString = 'x' OR constructor IS NOT NULL`, ''],
    [`WHERE nothing = 'x'`, ''],
    [`LIMIT 2`, 'ab'],
    [`WHERE priority = 'A' LIMIT 1`, 'a'],
    [`LIMIT 0`, ''],
  ];
  for (const [rest, expected] of table) assert.equal(ids(rest).join(''), expected, rest);
});

test('rows are ordered, missing values first, and equal ones keep their order', () => {
  assert.deepEqual(ids('ORDER BY priority'), ['c', 'a', 'd', 'b']);
  assert.deepEqual(ids('ORDER BY priority DESC'), ['b', 'a', 'd', 'c']);
  assert.deepEqual(ids('ORDER BY count, id DESC'), ['d', 'b', 'a', 'c']);
  assert.deepEqual(ids('ORDER BY due DESC LIMIT 1'), ['a']);
});

test('fields are selected, missing ones are null, and rows are counted', () => {
  assert.deepEqual(select(read('SELECT id, due FROM tasks LIMIT 3') as Select, tableOf(ROWS)).at(-1), {
    id: 'c',
    due: null,
  });
  assert.deepEqual(select(read(`SELECT COUNT(*) FROM tasks WHERE priority = 'A'`) as Select, tableOf(ROWS)), [
    { count: 2 },
  ]);
  assert.deepEqual(select(read(`SELECT count(*) FROM tasks`) as Select, tableOf([])), [{ count: 0 }]);
  assert.deepEqual(select(read(`SELECT count FROM tasks LIMIT 1`) as Select, tableOf(ROWS)), [{ count: 10 }]);
});

test('invalid text is an error with its place, never a condition that matches every row', () => {
  const invalid: [string, number, RegExp][] = [
    ['', 1, /starts with SELECT/],
    ['DROP TABLE x', 1, /starts with/],
    ['SELECT FROM x.md', 8, /field is missing/],
    ['SELECT * x.md', 10, /FROM is missing/],
    ['SELECT * FROM', 14, /missing/],
    [`SELECT * FROM x.md WHERE`, 25, /field is missing/],
    [`SELECT * FROM x.md WHERE priority`, 34, /not a comparison/],
    [`SELECT * FROM x.md WHERE priority = A`, 37, /quotes/],
    [`SELECT * FROM x.md WHERE priority == 'A'`, 36, /value is missing/],
    [`SELECT * FROM x.md WHERE priority ~ 'A'`, 35, /unexpected ~/],
    [`SELECT * FROM x.md WHERE 'priority' = 'A'`, 26, /has no quotes/],
    [`SELECT * FROM x.md WHERE a = 'open`, 30, /never closed/],
    [`SELECT * FROM x.md WHERE (a = 1`, 32, /\) is missing/],
    [`SELECT * FROM x.md WHERE a = 1)`, 31, /does not belong/],
    [`SELECT state, COUNT(*) FROM tasks GROUP BY state`, 20, /COUNT is not a field/],
    [`SELECT COUNT(*), state FROM tasks`, 16, /cannot be combined/],
    [`SELECT id FROM tasks GROUP BY state`, 22, /GROUP does not belong here/],
    [`SELECT * FROM x.md WHERE a IN 1`, 31, /\( is missing/],
    [`SELECT * FROM x.md WHERE a IN ()`, 32, /value is missing/],
    [`SELECT * FROM x.md WHERE a = NULL`, 30, /IS NULL/],
    [`SELECT * FROM x.md WHERE a BETWEEN 1 AND 2`, 28, /not a comparison/],
    [`SELECT * FROM x.md WHERE a = 2025-01-01`, 30, /unexpected 2025-01-01/],
    [`SELECT * FROM x.md WHERE a = 1 AND`, 35, /field is missing/],
    [`SELECT * FROM x.md WHERE a = 1 b = 2`, 32, /does not belong/],
    [`SELECT * FROM x.md LIMIT 1 WHERE a = 1`, 28, /does not belong/],
    [`SELECT * FROM x.md LIMIT many`, 26, /whole number/],
    [`SELECT * FROM x.md LIMIT 1.5`, 26, /whole number/],
    [`SELECT COUNT(id) FROM x.md`, 14, /\* is missing/],
    [`UPDATE x.md WHERE a = 1`, 13, /SET is missing/],
    [`UPDATE x.md SET a = 1, a = 2 WHERE b = 1`, 24, /twice/],
    [`UPDATE x.md SET a > 1`, 19, /= is missing/],
    [`INSERT x.md SET a = 1`, 8, /INTO is missing/],
    [`INSERT INTO x.md SET a = 1 WHERE b = 1`, 28, /does not belong/],
    [`DELETE x.md`, 8, /FROM is missing/],
    [`SELECT * FROM x.md; DELETE FROM x.md`, 21, /does not belong/],
    [`SELECT * FROM x.md WHERE ${'('.repeat(5000)}a = 1`, 127, /nested/],
  ];
  for (const [text, column, message] of invalid) {
    const parsed = parseQuery(text);
    assert.ok(!parsed.ok, text);
    assert.match(`${parsed.problem.message} ${parsed.problem.hint}`, message, text);
    assert.equal(parsed.problem.where?.column, column, `${text}\n${problemText(parsed.problem)}`);
  }
  const lines = parseQuery('SELECT *\nFROM x.md\nWHERE a ? 1');
  assert.deepEqual(!lines.ok && [lines.problem.where?.line, lines.problem.where?.column], [3, 9]);
});

test('any text is a query or a problem, and never throws', () => {
  const word = fc.constantFrom(
    'SELECT',
    '*',
    'FROM',
    'x.md',
    'WHERE',
    'a',
    '=',
    "'v'",
    'AND',
    'NOT',
    '(',
    ')',
    'IN',
    ',',
    '1',
    'IS',
    'NULL',
    'LIMIT',
    '"',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word).map((words) => words.join(' ')),
      ),
      (text) => {
        const parsed = parseQuery(text);
        if (!parsed.ok) assert.ok(parsed.problem.where);
      },
    ),
    { numRuns: 1000 },
  );
});

test('a quoted string reads back as the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom("'", '"'), (value, quote) => {
      const written = quote + value.replaceAll('\\', '\\\\').replaceAll(quote, quote + quote) + quote;
      const query = read(`SELECT * FROM tasks WHERE a = ${written}`) as Select;
      assert.deepEqual(query.where, { kind: 'compare', field: 'a', op: '=', value });
    }),
  );
});

test('NOT is the exact opposite, even for a missing field', () => {
  const part = fc.constantFrom(
    `priority = 'A'`,
    `count > 9`,
    `tags CONTAINS 'db'`,
    `due IS NULL`,
    `nothing < 3`,
    `title LIKE '%a'`,
  );
  fc.assert(
    fc.property(part, part, fc.constantFrom('AND', 'OR'), (a, b, joint) => {
      const yes = ids(`WHERE ${a} ${joint} ${b}`);
      const no = ids(`WHERE NOT (${a} ${joint} ${b})`);
      assert.deepEqual([...yes, ...no].sort(), ['a', 'b', 'c', 'd']);
    }),
  );
});

test('a pattern full of wildcards is matched in bounded time', () => {
  const row = { id: 'x', title: 'a'.repeat(5000) };
  const query = read(`SELECT * FROM tasks WHERE title LIKE '${'%a'.repeat(50)}%b'`) as Select;
  assert.deepEqual(
    inLinearTime('LIKE', () => select(query, tableOf([row]))),
    [],
  );
});
