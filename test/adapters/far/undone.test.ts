/** Tasks and conversations that an undo removed from a shared store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, ids } from '../../../src/adapters/clock/index.js';
import { far, type FarStore } from '../../../src/adapters/far/index.js';
import { removedRow } from '../../../src/adapters/far/rows.js';
import { ledgerState, memoryLedger, type LedgerState } from '../../../src/adapters/ledger/memory.js';
import type { Task } from '../../../src/domain/task/task.js';
import { simProcesses } from '../../kit/sim-processes.js';

const processes = simProcesses();
const open = (state: LedgerState): FarStore =>
  far({ ledger: memoryLedger(state), clock: clock(), ids: ids(), me: processes.start().me() });
const task = { id: 'root.1', root: 'root', description: 'Do it', role: 'root' } as Task;
const header = {
  sessionId: 'ana-root.1',
  agentId: 'ana',
  created: '2026-01-01T00:00:00.000Z',
  status: 'active',
} as const;
const message = { role: 'user', content: 'Do it', timestamp: '2026-01-01T00:00:00.000Z' } as const;

async function undo(state: LedgerState): Promise<void> {
  const ledger = memoryLedger(state);
  const { end } = await ledger.lines('session/ana-root.1', { last: 1 });
  await ledger.commit('undo', {
    puts: [
      { key: 'task/root.1', ...removedRow({ task, state: 'completed' }) },
      { key: 'undone/task/root.1', value: 'undone', live: true },
      { key: 'undone/session/ana-root.1', value: 'undone', live: true },
    ],
    adds: [{ log: 'session/ana-root.1', text: JSON.stringify([{ removed: true }]), expect: end }],
  });
}

for (const durable of [true, false])
  test(`a removed task and its conversation can be made again once (durable: ${durable})`, async () => {
    const state = ledgerState();
    const first = open(state);
    assert.equal(await first.tasks.create(task), true);
    assert.ok(await first.sessions.create(header, [message]));
    const claim = (await first.tasks.claim('root.1', 'ana'))!;
    assert.equal(await first.tasks.settle(claim, task, 'completed'), true);
    const watcher = open(state);
    await watcher.tasks.scan();
    await undo(state);
    for (const store of [first, watcher, open(state)]) {
      await store.tasks.scan();
      assert.equal(await store.tasks.read('root.1'), undefined);
      assert.deepEqual(await store.tasks.ended(), []);
      assert.deepEqual(await store.tasks.ended({ limit: 1 }), []);
      assert.equal((await store.sessions.open('ana-root.1')).kind, 'missing');
    }
    const again = open(state);
    await again.tasks.scan();
    assert.equal(await again.tasks.create(task, { durable }), true);
    assert.deepEqual((await again.sessions.create(header, [message], { durable }))?.messages, [message]);
    assert.equal(await again.sessions.append('ana-root.1', [message], { durable: true }), 'written');
    await again.flush();
    await watcher.tasks.scan();
    assert.equal((await watcher.tasks.read('root.1'))?.state, 'pending');
    assert.equal(await watcher.tasks.create(task), false, 'it exists');
    const opened = await watcher.sessions.open('ana-root.1');
    assert.equal(opened.kind === 'open' && opened.session.messages.length, 2);
    assert.equal(memoryLedger(state) && state.entries.get('undone/task/root.1')?.live, false);
    const second = (await watcher.tasks.claim('root.1', 'ana'))!;
    assert.equal(await watcher.tasks.settle(second, task, 'failed'), true);
    await again.tasks.scan();
    assert.equal((await again.tasks.read('root.1'))?.state, 'failed');
  });

test('removed tasks do not take the place of others in a list', async () => {
  const state = ledgerState();
  const store = open(state);
  for (const id of ['a', 'b']) {
    await store.tasks.create({ ...task, id, root: id });
    await store.tasks.settle((await store.tasks.claim(id, 'ana'))!, { ...task, id, root: id }, 'completed');
  }
  const puts = [{ key: 'task/b', ...removedRow({ task: { ...task, id: 'b' }, state: 'completed' }) }];
  await memoryLedger(state).commit('undo b', { puts, adds: [] });
  assert.deepEqual(
    (await store.tasks.ended({ limit: 1 })).map(({ task: { id } }) => id),
    ['a'],
  );
});
