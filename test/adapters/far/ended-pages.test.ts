/** Very many ended tasks in a shared store are read in pages, and only a part of each is kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, ids } from '../../../src/adapters/clock/index.js';
import { far } from '../../../src/adapters/far/index.js';
import { ledgerState, memoryLedger } from '../../../src/adapters/ledger/memory.js';
import { runQuery, streamQuery, type WantedTasks } from '../../../src/adapters/boards/queries.js';
import { taskRow } from '../../../src/text/records/task-row.js';
import { sourcesOf } from '../../../src/app/readers/query-sources.js';
import { ENDED_STATES } from '../../../src/domain/task/task.js';
import type { Ledger } from '../../../src/ports/ledger.js';
import { simDisk } from '../../kit/sim-disk.js';
import { simProcesses } from '../../kit/sim-processes.js';

const COUNT = 2500;

test('a query on a shared store reads ended tasks in pages and finds each of them once', async () => {
  const inner = memoryLedger(ledgerState());
  const pages: number[] = [];
  const ledger: Ledger = {
    ...inner,
    async list(...given) {
      const page = await inner.list(...given);
      pages.push(page.length);
      return page;
    },
  };
  const puts = Array.from({ length: COUNT }, (_, n) => {
    const tag = n % 3 === 0 ? 'failed' : 'completed';
    const task = { id: `t${n}`, root: `t${n}`, to: `agent-${n % 2}`, description: 'Do it' };
    return { key: `task/t${n}`, value: JSON.stringify({ task, state: tag }), live: false, tag };
  });
  await ledger.commit('all', { puts, adds: [] });
  const store = far({ ledger, clock: clock(), ids: ids(), me: simProcesses().start().me() });
  const whole = (await store.tasks.ended()).map(({ task }) => task.id);
  pages.length = 0;
  assert.deepEqual(await store.far.keptOfEnded(ENDED_STATES, ({ task }) => task.id), whole, 'newest first');
  assert.ok(Math.max(...pages) <= 250, String(pages));

  const sources = sourcesOf(
    () => store,
    () => [],
  );
  const rows = async (sql: string): Promise<unknown[]> =>
    (await runQuery(sql, { root: '/w', sources, disk: simDisk(), ids: ids() })).rows;
  pages.length = 0;
  assert.deepEqual(await rows('SELECT COUNT(*) FROM tasks'), [{ count: COUNT }]);
  const failed = Math.ceil(COUNT / 3);
  assert.deepEqual(await rows('SELECT COUNT(*) FROM tasks WHERE failed = true'), [{ count: failed }]);
  assert.deepEqual(await rows("SELECT COUNT(*) FROM tasks WHERE state != 'failed'"), [{ count: COUNT - failed }]);
  assert.deepEqual(pages, [], 'counting reads no task');
  assert.deepEqual(await rows("SELECT COUNT(*) FROM tasks WHERE to = 'agent-1'"), [{ count: COUNT / 2 }]);
  assert.deepEqual(await rows("SELECT id FROM tasks WHERE id LIKE '%2499'"), [{ id: 't2499' }]);
  const [first] = (await rows('SELECT * FROM tasks ORDER BY id LIMIT 1')) as { id: string; description: string }[];
  assert.deepEqual([first!.id, first!.description], ['t0', 'Do it'], 'a whole row has all its columns');
  assert.ok(Math.max(...pages) <= 250, String(pages));

  // Rows without an order or a limit are read while they are printed.
  const streamed: unknown[] = [];
  const pagesOf = async (wanted: WantedTasks) =>
    async function* () {
      for await (const placed of store.far.endedInPages(wanted.states)) yield wanted.keep(taskRow(placed))!;
    };
  const stream = await streamQuery('SELECT id, state FROM tasks', pagesOf);
  for await (const row of stream!.rows()) streamed.push(row);
  assert.deepEqual(streamed, await rows('SELECT id, state FROM tasks'));
  for (const whole of ['SELECT * FROM tasks ORDER BY id', 'SELECT * FROM tasks LIMIT 2', 'SELECT COUNT(*) FROM tasks'])
    assert.equal(await streamQuery(whole, pagesOf), undefined, whole);
  await store.close();
});
