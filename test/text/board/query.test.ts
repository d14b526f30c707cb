/** Queries on boards change only the matched items, and a doubtful query changes nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APPROVALS, MESSY, REDIS } from '../../kit/boards.js';
import { problemText } from '../../../src/domain/problem.js';
import { rowsToBoard } from '../../../src/text/board/into.js';
import { lintBoard } from '../../../src/text/board/lint.js';
import { queryBoard } from '../../../src/text/board/query.js';
import { parseQuery } from '../../../src/text/query/query.js';

type BoardReply = ReturnType<typeof queryBoard>;
type Done = Extract<BoardReply, { ok: true }>;
const ask = (text: string, query: string, all = false): BoardReply => {
  const parsed = parseQuery(query.replace('BOARD', 'tasks/x.task.md'));
  assert.ok(parsed.ok, query);
  return queryBoard(text, 'tasks/x.task.md', parsed.query, { all, ids: () => 'new-1' });
};
const done = (text: string, query: string, all = false): Done => {
  const reply = ask(text, query, all);
  assert.ok(reply.ok, reply.ok ? '' : problemText(reply.problem));
  return reply;
};
const refused = (text: string, query: string): string => {
  const reply = ask(text, query);
  assert.ok(!reply.ok, query);
  return problemText(reply.problem);
};
const ids = (text: string, query: string): unknown[] => done(text, query).rows.map((row) => row['id']);

test('a row has every column and every key', () => {
  assert.deepEqual(done(REDIS, `SELECT * FROM BOARD WHERE id = 'task-003'`).rows, [
    {
      id: 'task-003',
      title: 'Check Redis container status',
      completed: false,
      skipped: false,
      in_progress: false,
      priority: 'C',
      stakeholders: ['executor-001'],
      tags: ['docker'],
      parent: 'task-001',
      line: 13,
      depends_on: 'task-002',
      approval_required: true,
    },
  ]);
});

test('AND and OR work, and a completion time leaves completed true', () => {
  assert.deepEqual(
    ids(APPROVALS, `SELECT * FROM BOARD WHERE approval_type = 'terminal_command' AND completed = true`),
    [],
  );
  assert.deepEqual(ids(REDIS, `SELECT * FROM BOARD WHERE completed = true`), ['task-001']);
  assert.equal(done(REDIS, `SELECT completed_at FROM BOARD LIMIT 1`).rows[0]!['completed_at'], '2025-10-04T10:05:00Z');
  assert.deepEqual(ids(REDIS, `SELECT * FROM BOARD WHERE stakeholders CONTAINS 'executor-001' OR priority = 'B'`), [
    'task-002',
    'task-003',
  ]);
});

test('a key with a meaning on boards may be queried before any task has it', () => {
  const board = '## TODO\n\n- [ ] One\n  id: one\n';
  assert.deepEqual(ids(board, `SELECT id, completed_at FROM BOARD WHERE depends_on != 'x' ORDER BY failed_at`), [
    'one',
  ]);
  assert.match(refused(board, `SELECT id, depends FROM BOARD`), /no column "depends"[^]*"depends_on"/);
});

test('an update changes only its line and keeps a time written there', () => {
  const reply = done(REDIS, `UPDATE BOARD SET completed = false WHERE id = 'task-001'`);
  assert.equal(reply.message, 'Updated 1 tasks in tasks/x.task.md');
  assert.equal(reply.text, REDIS.replace('- [x] A @planner-001', '- [ ] A @planner-001'));
});

test('an update of many columns keeps prose, comments and order', () => {
  const reply = done(
    MESSY,
    `UPDATE BOARD SET completed = true, priority = 'B', tags = 'x, y', title = 'New', note = NULL, due = 'a b', fresh = 'line
two', text = 'short' WHERE id = 'one'`,
  );
  assert.equal(
    reply.text,
    MESSY.replace(
      '- [ ] A   @ana  "First"   id: one   due: 2025-01-01',
      '- [x] B   @ana  #x #y "New"   id: one   due: "a b"',
    )
      .replace('  note: "quoted"   \n', '')
      .replace(/ {2}text: \|\n[^]*?end\n/, '  text: short\n  fresh: |\n    line\n    two\n'),
  );
  const [row] = reply.rows;
  assert.deepEqual(
    [row!['title'], row!['fresh'], row!['note'], row!['tags']],
    ['New', 'line\ntwo', undefined, ['x', 'y']],
  );
});

test('a heading inside a block does not end the section', () => {
  const after = done(MESSY, `UPDATE BOARD SET skipped = true WHERE id = 'one'`).text!;
  assert.equal(after, MESSY.replace('- [ ] A', '- [-] A'));
  assert.deepEqual(
    lintBoard(after, 'x').filter((p) => p.severity === 'error'),
    [],
  );
});

test('bullets of other sections are never rows', () => {
  assert.equal(done(MESSY, 'SELECT * FROM BOARD').rows.length, 4);
  assert.equal(
    done(MESSY, 'UPDATE BOARD SET completed = true', true).text!.includes('## Notes\n- not a task @here'),
    true,
  );
});

test('a delete removes the children too', () => {
  const reply = done(REDIS, `DELETE FROM BOARD WHERE id = 'task-001' OR id = 'task-002'`);
  assert.equal(reply.message, 'Deleted 3 tasks from tasks/x.task.md');
  assert.equal(
    reply.text,
    `## TODO\n\n\n- [ ] A @evaluator-001 "Validate Redis check result"\n  id: task-004\n  depends_on: task-003\n`,
  );
});

test('DELETE WHERE priority != removes only matching tasks', () => {
  assert.deepEqual(
    done(REDIS, `DELETE FROM BOARD WHERE priority != 'A'`).rows.map((row) => row['id']),
    ['task-002', 'task-003'],
  );
});

test('without WHERE, or with an unknown field, nothing is changed', () => {
  assert.match(refused(REDIS, 'DELETE FROM BOARD'), /without WHERE/);
  assert.match(refused(REDIS, 'UPDATE BOARD SET a = 1'), /without WHERE/);
  assert.match(refused(REDIS, `DELETE FROM BOARD WHERE statsu != 'done'`), /no task .* has a field statsu/);
  assert.match(refused(REDIS, `UPDATE BOARD SET a = 1 WHERE NOT prority = 'A'`), /prority/);
  assert.equal(done(REDIS, `DELETE FROM BOARD WHERE statsu = 'done'`).text, undefined);
  assert.equal(done(REDIS, 'DELETE FROM BOARD', true).rows.length, 4);
});

test('an insert creates an id and the heading, and nests under a parent', () => {
  const inserted = done(
    '',
    `INSERT INTO BOARD SET title = 'Buy "milk"', priority = 'B', tags = 'home', stakeholders = 'ana,ben', due = '2025-01-01', completed = true`,
  );
  assert.equal(inserted.message, 'Inserted task new-1 into tasks/x.task.md');
  assert.equal(inserted.text, '## TODO\n\n- [x] B @ana @ben #home `Buy "milk"`\n  id: new-1\n  due: 2025-01-01\n');
  const nested = done(REDIS, `INSERT INTO BOARD SET title = 'T', id = 't-9', parent = 'task-001'`);
  assert.equal(nested.rows[0]!['parent'], 'task-001');
  assert.match(nested.text!, / {4}approval_required: true\n {2}- \[ \] "T"\n {4}id: t-9\n\n- \[ \] A @evaluator/);
});

test('a value that would not read back is refused', () => {
  for (const [query, why] of [
    [`INSERT INTO BOARD SET due = 'x'`, /title/],
    [`INSERT INTO BOARD SET title = ''`, /title/],
    [`INSERT INTO BOARD SET title = 'T', id = 'task-001'`, /taken/],
    [`INSERT INTO BOARD SET title = 'T', id = 'two words'`, /one word/],
    [`INSERT INTO BOARD SET title = 'T', parent = 'nobody'`, /nobody/],
    [`UPDATE BOARD SET priority = 'E' WHERE id = 'task-001'`, /A, B, C or D/],
    [`UPDATE BOARD SET tags = 'a b' WHERE id = 'task-001'`, /tags/],
    [`UPDATE BOARD SET stakeholders = '@ana' WHERE id = 'task-001'`, /stakeholders/],
    [`UPDATE BOARD SET parent = 'x' WHERE id = 'task-002'`, /indentation/],
    [`UPDATE BOARD SET line = 3 WHERE id = 'task-002'`, /follows from the file/],
    [`UPDATE BOARD SET a.b = 3 WHERE id = 'task-002'`, /key/],
    [`UPDATE BOARD SET id = 'same' WHERE priority = 'A'`, /share/],
    [`UPDATE BOARD SET id = 'task-002' WHERE id = 'task-001'`, /damage/],
  ] as const) {
    assert.match(refused(REDIS, query), why, query);
  }
});

test('one malformed line is reported, and the rest is queried and edited', () => {
  const text = REDIS.replace('- [ ] B @retriever-001', '- [?] B @retriever-001');
  const reply = done(text, `UPDATE BOARD SET completed = true WHERE id IN ('task-002', 'task-003')`);
  assert.deepEqual(
    reply.rows.map((row) => row['id']),
    ['task-003'],
  );
  assert.deepEqual(
    reply.problems.map((p) => p.lint),
    ['TD014'],
  );
  assert.equal(reply.text, text.replace('- [ ] C', '- [x] C'));
});

test('a board with a merge conflict is not written', () => {
  assert.match(refused('## TODO\n<<<<<<< a\n- "A"\n', `INSERT INTO BOARD SET title = 'T'`), /merge conflict/);
});

test('a key may have the name of an object property', () => {
  const text = '## TODO\n- "A" id: a\n  __proto__: x\n  constructor: y\n';
  const [row] = done(text, `SELECT __proto__, constructor FROM BOARD WHERE constructor = 'y'`).rows;
  assert.deepEqual(Object.entries(row!), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ]);
});

test('rows saved as a board read back as the same rows', () => {
  const query = 'SELECT * FROM BOARD';
  const strip = (rows: readonly Record<string, unknown>[]): unknown[] => rows.map(({ line: _, ...row }) => row);
  for (const text of [REDIS, APPROVALS]) {
    const { rows } = done(text, query);
    assert.deepEqual(strip(done(rowsToBoard(rows), query).rows), strip(rows));
  }
  const cycle = rowsToBoard([
    { id: 'a', parent: 'b' },
    { id: 'b', parent: 'a' },
  ]);
  assert.equal(done(cycle, query).rows.length, 2);
});

test('lint warns about valid text that is probably a mistake', () => {
  const lints = (text: string): string[] =>
    lintBoard(text, 'x.task.md').map((p) => `${p.where?.line} ${p.lint} ${p.severity}`);
  assert.deepEqual(lints(REDIS), []);
  assert.deepEqual(lints(APPROVALS), []);
  assert.deepEqual(lints('- a\n- b\n'), ['1 TD034 warning']);
  assert.deepEqual(lints('- [q] a\n'), ['1 TD034 warning'], 'even where nothing else is right');
  assert.deepEqual(lints('## TODO\n- "A"\n  completed: true\n'), ['3 TD060 warning']);
  assert.deepEqual(lints('## TODO\n- "A" id: a\n  - "B"\n    parent: z\n- "open\n'), [
    '4 TD061 warning',
    '5 TD001 error',
  ]);
});
