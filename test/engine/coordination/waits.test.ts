/**
 * The wait-for graph follows the open tasks: every kind of node, and no work if nothing changed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import { memory, world } from '../../kit/memory/store.js';
import { waits, type WaitForGraph } from '../../../src/engine/coordination/waits.js';
import type { Ports } from '../../../src/engine/core/context.js';
import type { Store } from '../../../src/ports/store/index.js';
import { simClock } from '../../kit/sim-clock.js';
import { countedIds } from '../../kit/sim-processes.js';

const AT = '2026-01-01T00:00:00.000Z';
const AGENTS = {
  ann: { name: 'ann', maxConcurrentTasks: 1, session: 'per_task', advisors: [] },
  ben: { name: 'ben', maxConcurrentTasks: Infinity, session: 'shared', advisors: [] },
} as unknown as Record<string, Agent>;

interface Setup {
  store: Store;
  graph: WaitForGraph;
  /** How often the open tasks were listed. */
  looked(): number;
  make(id: string, more?: Partial<Task>): Promise<void>;
  park(id: string, waits: Task['waits']): Promise<void>;
}

function setUp(worksOn?: (agent: string) => string[]): Setup {
  const store = memory(world(), { clock: simClock({ auto: true }), ids: countedIds('m') });
  let looked = 0;
  const { open } = store.tasks;
  store.tasks.open = () => (looked++, open());
  const agents = { all: () => new Map(Object.entries(AGENTS)) } as unknown as Ports['agents'];
  return {
    store,
    graph: waits({ tasks: store.tasks, locks: store.locks, agents }, worksOn),
    looked: () => looked,
    async make(id, more) {
      await store.tasks.create(makeTask({ id, description: id, created_at: AT, ...more }));
    },
    async park(id, waits) {
      const claim = (await store.tasks.claim(id, 'x'))!;
      await store.tasks.park(claim, { ...claim.task, ...(waits ? { waits } : {}) });
    },
  };
}

test('each task, turn, budget and agent has an edge to what it waits for', async () => {
  const { graph, make, park, store } = setUp((agent) => (agent === 'ann' ? ['working'] : []));
  await make('t', { to: 'lead' });
  await park('t', { tasks: ['t.a'], budget: 'tokens' });
  await make('t.a', { to: 'ann', parent: 't', dependencies: ['t.b'] });
  await make('t.b', { to: 'ben' });
  await make('t.c', { to: 'ben' });
  assert.ok(await store.locks.acquire('ben', 't.c'));
  await make('q', { to: 'human' });
  await make('bid', { to: 'ann', role: 'bid' });
  await graph.look();
  const waits = (node: string): string[] => [...graph.waitsOf(node)];
  assert.deepEqual(waits('t'), ['budget:t']);
  assert.deepEqual(waits('budget:t'), ['t.a']);
  assert.deepEqual(waits('t.a'), ['t.b', 'agent:ann']);
  assert.deepEqual(waits('agent:ann'), ['working']);
  assert.deepEqual(waits('t.b'), ['turn:ben']);
  assert.deepEqual(waits('turn:ben'), ['t.c']);
  assert.deepEqual(waits('t.c'), []);
  assert.deepEqual(waits('q'), ['@human']);
  assert.deepEqual(waits('@human'), []);
  assert.deepEqual(waits('bid'), [], 'a bid takes no capacity');
  assert.deepEqual([...graph.cycles()], []);
  assert.deepEqual(graph.wouldClose('t.c', 't'), ['t.c', 't', 'budget:t', 't.a', 't.b', 'turn:ben']);
});

test('a task is held up if it waits for an open task or a turn, but not if it waits for capacity', async () => {
  const { graph, make, store } = setUp();
  await make('before', { to: 'ann' });
  await make('after', { to: 'ann', dependencies: ['before'] });
  await make('ended', { to: 'ann', dependencies: ['long-ago'] });
  await make('speaks', { to: 'ben' });
  await make('listens', { to: 'ben' });
  assert.ok(await store.locks.acquire('ben', 'speaks'));
  await graph.look();
  const held = ['before', 'after', 'ended', 'speaks', 'listens'].filter((id) => graph.isHeldUp(id));
  assert.deepEqual(held, ['after', 'listens']);
});

test('an unchanged store is not listed again, and ended tasks are dropped', async () => {
  const { graph, make, looked, store } = setUp();
  await make('a', { to: 'ann' });
  await make('b', { to: 'ann', dependencies: ['a'] });
  await graph.look();
  for (let n = 0; n < 5; n++) await graph.look();
  assert.equal(looked(), 1);
  const claim = (await store.tasks.claim('a', 'ann'))!;
  await store.tasks.settle(claim, claim.task, 'completed');
  await graph.look();
  assert.equal(looked(), 1, 'after that, only changed tasks are read');
  assert.equal(graph.find('a'), undefined);
  assert.equal(graph.isHeldUp('b'), false);
});

test('a budget that no task waits for has no edges', async () => {
  const { graph, make, park, store } = setUp();
  await make('t', { to: 'lead' });
  await park('t', { tasks: ['t.a'], budget: 'turns' });
  await make('t.a', { to: 'lead', parent: 't', dependencies: ['t'] });
  await graph.look();
  assert.deepEqual(
    [...graph.cycles()].map((cycle) => cycle.toSorted()),
    [['budget:t', 't', 't.a']],
  );
  const claim = (await store.tasks.claim('t', 'lead'))!;
  await store.tasks.release(claim, makeTask({ id: 't', description: 't', created_at: AT, to: 'lead' }));
  await graph.look();
  assert.deepEqual([...graph.waitsOf('budget:t')], []);
  assert.deepEqual([...graph.cycles()], []);
});
