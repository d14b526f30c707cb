/** How many commits work costs, and what they carry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { far, type FarStore } from '../../../src/adapters/far/index.js';
import { ledgerState, memoryLedger } from '../../../src/adapters/ledger/memory.js';
import type { Change, Ledger } from '../../../src/ports/ledger.js';
import { AT, header, task, user } from '../../contract/store/bench.js';
import { simClock } from '../../kit/sim-clock.js';
import { countedIds, simProcesses } from '../../kit/sim-processes.js';

function counted(): { store: FarStore; sent: Change[]; atOnce(): number } {
  const inner = memoryLedger(ledgerState());
  const sent: Change[] = [];
  let [under, most] = [0, 0];
  const ledger: Ledger = {
    ...inner,
    async commit(id, change, guard) {
      sent.push(change);
      most = Math.max(most, ++under);
      await new Promise(setImmediate);
      under--;
      return inner.commit(id, change, guard);
    },
  };
  const store = far({
    ...{ ledger, clock: simClock(), ids: countedIds(), me: simProcesses().start().me() },
    ...{ lag: () => undefined, every: () => () => undefined },
  });
  return { store, sent, atOnce: () => most };
}

test('changes that come while a commit is under way share the next one', async () => {
  const { store, sent, atOnce } = counted();
  await Promise.all(Array.from({ length: 50 }, (_, n) => store.tasks.create(task(`t${n}`))));
  assert.equal(sent.length, 2);
  assert.equal(atOnce(), 1);
});

test('a task that is made, claimed and ended before the next commit is sent once, as ended', async () => {
  const { store, sent } = counted();
  await store.presence.join();
  sent.splice(0);
  await store.tasks.create(task('t'), { durable: false });
  const claim = (await store.tasks.claim('t', 'ana'))!;
  assert.equal(await store.tasks.settle(claim, { ...claim.task, result: 'r' }, 'completed', { durable: false }), true);
  assert.equal((await store.tasks.read('t'))!.task.result, 'r');
  await store.flush();
  assert.deepEqual(
    sent.map(({ puts }) => puts.map(({ key, live }) => [key, live])),
    [[['task/t', false]]],
  );
});

test('an end is sent with the messages and events that came before it', async () => {
  const { store, sent } = counted();
  await store.tasks.create(task('t'));
  const claim = (await store.tasks.claim('t', 'ana'))!;
  await store.sessions.create(header('s'), [user('hello')], { durable: false });
  await store.sessions.append('s', [user('more')], { durable: false });
  store.events.append({ at: AT, name: 'task.completed', task: 't' });
  const before = sent.length;
  await store.tasks.settle(claim, { ...claim.task, result: 'r' }, 'completed');
  assert.equal(sent.length, before + 1);
  const last = sent.at(-1)!;
  assert.deepEqual(
    [last.puts.map(({ key }) => key), last.adds.map(({ log }) => log)],
    [['task/t'], ['session/s', 'events']],
  );
});
