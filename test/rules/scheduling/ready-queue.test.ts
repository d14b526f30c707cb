/** Lines: who stands in one, and that many lines are served as one would be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import { inOrder, isInLine, lineOf, queue, type Place, type Row } from '../../../src/rules/scheduling/ready-queue.js';

const AT = '2026-01-01T00:00:00.000Z';
const task = (id: string, more: Partial<Task> = {}): Task => makeTask({ id, description: id, created_at: AT, ...more });

test('whoever waits for its turn alone stands in line; whoever has a past, a parent or a need is under way', () => {
  for (const more of [{}, { to: 'ann' }, { requirements: ['x'] }, { priority: 'A' as const }, { dependencies: ['d'] }])
    assert.ok(isInLine(task('t', more), 'pending'));
  const others: Partial<Task>[] = [
    { parent: 'p' },
    { root: 'p' },
    { role: 'bid' },
    { role: 'approval', to: 'human' },
    { to: 'human' },
    { claimed_at: AT },
    { attempts: 1 },
    { ended_at: AT },
    { session: 's' },
    { waits: { until: AT } },
    { bids: ['t.bid-ann'] },
    { extra: { board: { file: 'tasks/b.task.md', said: 'x' } } },
  ];
  for (const more of others) assert.ok(!isInLine(task('t', more), 'pending'), JSON.stringify(more));
  for (const state of ['active', 'waiting'] as const) assert.ok(!isInLine(task('t'), state));
});

const places = fc
  .array(
    fc.record({
      priority: fc.constantFrom('A', 'B', 'C'),
      to: fc.constantFrom('ann', 'ben', undefined),
      at: fc.nat(5),
    }),
    {
      maxLength: 30,
    },
  )
  .map((all) =>
    all.map(({ priority, to, at }, n): Place => {
      const given = { priority: priority as Task['priority'], created_at: `2026-01-01T00:00:00.00${at}Z` };
      return { task: task(`t${n}`, { ...given, ...(to === undefined ? {} : { to }) }), since: n };
    }),
  );

function rowsOf(all: readonly Place[]): Row[] {
  const rows = new Map<string, Place[]>();
  for (const one of all) rows.set(lineOf(one.task), [...(rows.get(lineOf(one.task)) ?? []), one]);
  return [...rows.values()].map((row) => ({ places: row.sort(inOrder), alike: true }));
}

test('many lines are served in the order of one: most urgent first, then the oldest', () => {
  fc.assert(
    fc.property(places, fc.nat(30), (all, out) => {
      const line = queue(rowsOf(all), (id) => id === `t${out}`);
      const named: string[] = [];
      for (let one = line.next(); one !== undefined; one = line.next()) named.push(one.id);
      const wanted = [...all].sort(inOrder).map((one) => one.task.id);
      assert.deepEqual(
        named,
        wanted.filter((id) => id !== `t${out}`),
      );
    }),
  );
});

test('where there is no room for the first of a line, all behind it are passed over with it, and nobody else', () => {
  fc.assert(
    fc.property(places, (all) => {
      const line = queue(rowsOf(all), () => false);
      let passed = 0;
      const named: string[] = [];
      for (let one = line.next(); one !== undefined; one = line.next()) {
        if (one.to === 'ann') passed += line.pass();
        else named.push(one.id);
      }
      const order = [...all].sort(inOrder).map((one) => one.task);
      assert.deepEqual(
        named,
        order.flatMap((one) => (one.to === 'ann' ? [] : one.id)),
      );
      assert.equal(passed, order.filter((one) => one.to === 'ann').length);
    }),
  );
});

test('where tasks are not alike, each is asked about', () => {
  const row = { places: ['a', 'b'].map((id, since) => ({ task: task(id), since })), alike: false };
  const line = queue([row], () => false);
  assert.equal(line.next()?.id, 'a');
  assert.equal(line.pass(), 1);
  assert.equal(line.next()?.id, 'b');
  assert.equal(line.pass(), 1);
  assert.equal(line.next(), undefined);
});
