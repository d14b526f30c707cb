/** `guild query` and `guild lint` as a person meets them: output and exit codes. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { layTable } from '../../../src/cli/render/table.js';
import { REDIS } from '../../kit/boards.js';
import { place, type Place } from '../../kit/guild.js';

function workspace(t: TestContext): Place['guild'] {
  return place(t, { 'guild.yaml': '', 'tasks/redis.task.md': REDIS }).guild;
}

test('a person asks, changes and checks a board', async (t) => {
  const guild = workspace(t);
  const table = await guild(
    'query',
    `SELECT id, title FROM tasks/redis.task.md WHERE completed = false ORDER BY id DESC LIMIT 2`,
  );
  assert.equal(table.code, 0, table.err);
  assert.deepEqual(table.out.trim().split('\n'), [
    'id        title',
    '--------  ----------------------------',
    'task-004  Validate Redis check result',
    'task-003  Check Redis container status',
  ]);
  const updated = await guild('query', `UPDATE tasks/redis.task.md SET completed = true WHERE id = 'task-004'`);
  assert.equal(updated.out, 'Updated 1 tasks in tasks/redis.task.md\n');
  const json = await guild('query', `SELECT COUNT(*) FROM tasks/redis.task.md WHERE completed = true`, '--json');
  assert.deepEqual(JSON.parse(json.out), [{ count: 2 }]);
  assert.deepEqual(
    [(await guild('lint', 'tasks/redis.task.md')).code, (await guild('lint', 'tasks/none.task.md')).code],
    [0, 1],
  );
});

test('every column that a query names is shown, and an unknown one is an error', async (t) => {
  const guild = workspace(t);
  const table = await guild('query', `SELECT id, completed FROM tasks/redis.task.md WHERE completed = false LIMIT 1`);
  assert.deepEqual(table.out.trim().split('\n'), ['id        completed', '--------  ---------', 'task-002  false']);
  const refused = await guild('query', `SELECT id, titel FROM tasks/redis.task.md`);
  assert.deepEqual([refused.code, refused.out], [2, '']);
  assert.match(refused.err, /tasks\/redis\.task\.md has no column "titel"\n {2}did you mean "title"\?/);
});

test('amounts have the same keys in files, conditions and rows', async (t) => {
  const usage = {
    turns: 2,
    tool_calls: 1,
    input_tokens: 300,
    output_tokens: 8,
    cached_tokens: 0,
    micro_usd: 5,
    busy_ms: 9,
  };
  const task = { id: 'x', description: 'x', usage, own_usage: usage, budget: { turns: 5, micro_usd: 70 } };
  const { guild } = place(t, { 'guild.yaml': '', 'tasks/completed/x.json': JSON.stringify(task) });
  const where = 'usage.input_tokens = 300 AND own_usage.micro_usd = 5 AND budget.micro_usd = 70';
  const reply = await guild('query', `SELECT usage, usage.busy_ms, budget FROM tasks WHERE ${where}`, '--json');
  assert.deepEqual(JSON.parse(reply.out), [{ usage, 'usage.busy_ms': 9, budget: task.budget }]);
});

test('a query that does not parse shows where, and exits 2', async (t) => {
  const guild = workspace(t);
  const refused = await guild('query', `DELETE FROM tasks/redis.task.md WHERE priority !! 'A'`);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /query:1:48/);
  assert.equal((await guild('query', 'DELETE FROM tasks/redis.task.md')).code, 2);
  assert.equal(
    (await guild('query', 'DELETE FROM tasks/redis.task.md', '--all')).out,
    'Deleted 4 tasks from tasks/redis.task.md\n',
  );
});

test('the tables of the workspace can be asked', async (t) => {
  const guild = workspace(t);
  for (const source of ['tasks', 'sessions', 'agents', 'events']) {
    const asked = await guild('query', `SELECT COUNT(*) FROM ${source}`, '--json');
    assert.equal(asked.code, 0, asked.err);
    assert.equal(typeof JSON.parse(asked.out)[0].count, 'number');
  }
});

test('a table fits the terminal, however narrow', () => {
  const rows = [
    { id: 'a', title: 'A long title that goes on and on', tags: ['x', 'y'], empty: null, done: false },
    { id: 'b', title: 'Short', tags: [], empty: null, done: false },
  ];
  for (const width of [30, 40, 80, 200]) {
    const lines = layTable(rows, width);
    assert.ok(
      lines.every((line) => line.length <= width),
      `${width}`,
    );
    assert.match(lines[0]!, /^id +title +tags$/);
  }
  const wide = [Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`column-${i}`, `value number ${i}`]))];
  const records = layTable(wide, 40);
  assert.equal(records[0], 'column-0: value number 0');
  assert.ok(records.every((line) => line.length <= 40));
});
