/** Unknown columns of a query are reported. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '../../../src/domain/problem.js';
import { unknownColumn } from '../../../src/text/query/columns.js';
import { parseQuery, tableOf, type Select } from '../../../src/text/query/query.js';

const ROWS = [
  { id: 'a', title: 'Alpha', note: 'x', context: { goal: 'y' } },
  { id: 'b', title: 'Beta' },
];

function check(text: string, rows: Record<string, unknown>[] = ROWS): string | undefined {
  const parsed = parseQuery(text);
  assert.ok(parsed.ok);
  const finding = unknownColumn(parsed.query as Select, tableOf(rows), ['id', 'title', 'completed', 'usage']);
  return finding && problemText(finding);
}

test('an unknown column is an error that names the nearest column', () => {
  assert.match(check('SELECT id, titel FROM tasks')!, /tasks has no column "titel"\n.*did you mean "title"\?/);
  assert.match(check('SELECT * FROM tasks WHERE complted = false')!, /no column "complted"[^]*"completed"/);
  assert.match(
    check('SELECT id FROM tasks ORDER BY xyzzy')!,
    /the columns are id, title, completed, usage, note, context/,
  );
});

test('an unknown column is an error even if the source has no rows', () => {
  assert.match(check('SELECT titel FROM tasks', [])!, /tasks has no column "titel"/);
  assert.equal(check('SELECT id, usage.turns FROM tasks WHERE archived IS NULL', []), undefined);
});

test('a column is accepted if the source defines it, a row has it, or only IS NULL uses it', () => {
  for (const text of [
    'SELECT id, completed, note FROM tasks',
    'SELECT context.goal, usage.turns FROM tasks',
    'SELECT * FROM tasks WHERE archived IS NULL AND NOT (sent IS NOT NULL)',
  ])
    assert.equal(check(text), undefined, text);
});
