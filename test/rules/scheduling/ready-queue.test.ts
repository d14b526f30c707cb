/** Only tasks that wait for capacity are queued, and many queues are served like one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import { inOrder, isQueued, queueKey, queue, type Place, type Row } from '../../../src/rules/scheduling/ready-queue.js';

const AT = '2026-01-01T00:00:00.000Z';
const task = (id: string, more: Partial<Task> = {}): Task => makeTask({ id, description: id, created_at: AT, ...more });

test('a root that has not started is queued; a task with a past, a parent or a wait is not', () => {
  for (const more of [{}, { to: 'ann' }, { requirements: ['x'] }, { priority: 'A' as const }, { dependencies: ['d'] }])
    assert.ok(isQueued(task('t', more), 'pending'));
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
  for (const more of others) assert.ok(!isQueued(task('t', more), 'pending'), JSON.stringify(more));
  for (const state of ['active', 'waiting'] as const) assert.ok(!isQueued(task('t'), state));
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
      const fields = { priority: priority as Task['priority'], created_at: `2026-01-01T00:00:00.00${at}Z` };
      return { task: task(`t${n}`, { ...fields, ...(to === undefined ? {} : { to }) }), since: n };
    }),
  );

function rowsOf(all: readonly Place[]): Row[] {
  const rows = new Map<string, Place[]>();
  for (const place of all) rows.set(queueKey(place.task), [...(rows.get(queueKey(place.task)) ?? []), place]);
  return [...rows.values()].map((row) => ({ places: row.sort(inOrder), alike: true }));
}

test('many queues are served like one: by priority, then the oldest first', () => {
  fc.assert(
    fc.property(places, fc.nat(30), (all, out) => {
      const merged = queue(rowsOf(all), (id) => id === `t${out}`);
      const served: string[] = [];
      for (let next = merged.next(); next !== undefined; next = merged.next()) served.push(next.id);
      const expected = [...all].sort(inOrder).map((place) => place.task.id);
      assert.deepEqual(
        served,
        expected.filter((id) => id !== `t${out}`),
      );
    }),
  );
});

test('if a row is limited to some trees, only their tasks are served, and they are skipped together', () => {
  fc.assert(
    fc.property(places, fc.uniqueArray(fc.nat(29)), (all, wanted) => {
      const only = new Set(wanted.map((n) => `t${n}`));
      const rows = rowsOf(all).map((row) => ({ ...row, only }));
      const order = [...all].sort(inOrder).flatMap(({ task: { id, to } }) => (only.has(id) ? [{ id, to }] : []));
      const merged = queue(rows, () => false);
      const served: string[] = [];
      let offered = 0;
      for (let next = merged.next(); next !== undefined; next = merged.next()) {
        if (next.to !== 'ann') served.push(next.id);
        else if (merged.pass() > 0) offered++;
      }
      assert.deepEqual(
        served,
        order.flatMap(({ id, to }) => (to === 'ann' ? [] : id)),
      );
      assert.ok(offered <= 3, 'once for each priority');
    }),
  );
});

test('without capacity for the first task of a queue, only the tasks behind it are skipped', () => {
  fc.assert(
    fc.property(places, (all) => {
      const merged = queue(rowsOf(all), () => false);
      let skipped = 0;
      const served: string[] = [];
      for (let next = merged.next(); next !== undefined; next = merged.next()) {
        if (next.to === 'ann') skipped += merged.pass();
        else served.push(next.id);
      }
      const order = [...all].sort(inOrder).map((place) => place.task);
      assert.deepEqual(
        served,
        order.flatMap(({ id, to }) => (to === 'ann' ? [] : id)),
      );
      assert.equal(skipped, order.filter(({ to }) => to === 'ann').length);
    }),
  );
});

test('each task of a row that is not alike is offered', () => {
  const row = { places: ['a', 'b'].map((id, since) => ({ task: task(id), since })), alike: false };
  const merged = queue([row], () => false);
  assert.equal(merged.next()?.id, 'a');
  assert.equal(merged.pass(), 1);
  assert.equal(merged.next()?.id, 'b');
  assert.equal(merged.pass(), 1);
  assert.equal(merged.next(), undefined);
});
