/** Leases, and the fencing of a process that was declared dead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { far, type FarOptions, type FarStore } from '../../../src/adapters/far/index.js';
import { ledgerState, memoryLedger, type LedgerState } from '../../../src/adapters/ledger/memory.js';
import { isStoreFault } from '../../../src/domain/fence.js';
import { asProblem } from '../../../src/domain/problem.js';
import type { Ledger } from '../../../src/ports/ledger.js';
import { header, task, user } from '../../contract/store/bench.js';
import { simClock, type SimClock } from '../../kit/sim-clock.js';
import { countedIds, simProcesses } from '../../kit/sim-processes.js';

const LEASE_MS = 1000;
const ids = countedIds();
const processes = simProcesses();

interface Desk {
  store: FarStore;
  clock: SimClock;
  /** Renews the lease, as the timer of a running process does. */
  renew(): void;
}

function join(state: LedgerState, more: Partial<FarOptions> = {}): Desk {
  const clock = simClock();
  const acts: (() => void)[] = [];
  const store = far({
    ...{ ledger: memoryLedger(state), clock, ids, me: processes.start().me(), leaseMs: LEASE_MS, lag: queueMicrotask },
    every: (_, act) => (acts.push(act), () => acts.splice(0)),
    ...more,
  });
  return { store, clock, renew: () => acts.forEach((act) => act()) };
}

/** Lets this much time pass, with as many looks as a running process makes. */
async function watch({ store, clock }: Desk, ms: number, also: () => void = () => undefined): Promise<void> {
  for (let passed = 0; passed < ms; passed += LEASE_MS / 10) {
    await clock.advance(LEASE_MS / 10);
    also();
    await store.tasks.scan();
  }
}

async function working(): Promise<{ state: LedgerState; first: Desk; second: Desk }> {
  const state = ledgerState();
  const [first, second] = [join(state), join(state)];
  await first.store.tasks.create(task('t'));
  await first.store.tasks.claim('t', 'ana');
  await second.store.presence.join();
  await second.store.tasks.scan();
  return { state, first, second };
}

test('a peer that renews is not robbed, however long it works', async () => {
  const { first, second } = await working();
  await watch(second, 5 * LEASE_MS, first.renew);
  assert.deepEqual(await second.store.tasks.orphans(), []);
});

test('a peer that does not renew for a lease loses its tasks', async () => {
  const { second } = await working();
  await watch(second, 0.9 * LEASE_MS);
  assert.deepEqual(await second.store.tasks.orphans(), []);
  await watch(second, 0.4 * LEASE_MS);
  assert.deepEqual(await second.store.tasks.orphans(), ['t']);
  assert.equal((await second.store.tasks.takeOver('t'))!.recovered, true);
});

test('a process that has not claimed anything yet takes over from a dead one', async () => {
  const { state } = await working();
  const [idle, reader] = [join(state), join(state, { isReader: true })];
  await watch(reader, 3 * LEASE_MS);
  assert.deepEqual(await reader.store.tasks.orphans(), [], 'one that only reads leaves that to others');
  await watch(idle, 1.5 * LEASE_MS);
  assert.deepEqual(await idle.store.tasks.orphans(), ['t']);
});

test('an observer that was paused does not declare others dead at its first look', async () => {
  const { first, second } = await working();
  await second.clock.advance(100 * LEASE_MS);
  await second.store.tasks.scan();
  assert.deepEqual(await second.store.tasks.orphans(), []);
  await watch(second, 0.5 * LEASE_MS, first.renew);
  assert.deepEqual(await second.store.tasks.orphans(), []);
});

test('a clock that is wrong by an hour changes nothing', async () => {
  const state = ledgerState();
  const late = join(state, { clock: simClock({ start: '2026-01-01T01:00:00.000Z' }) });
  const second = join(state);
  await late.store.tasks.create(task('t'));
  await late.store.tasks.claim('t', 'ana');
  await second.store.presence.join();
  await watch(second, 0.5 * LEASE_MS, late.renew);
  assert.deepEqual(await second.store.tasks.orphans(), []);
});

test('a process that was declared dead can write nothing of any kind', async () => {
  const { state, first, second } = await working();
  await first.store.sessions.create(header('s'), [user('hello')]);
  await watch(second, 1.5 * LEASE_MS);
  const before = JSON.stringify([[...state.entries], [...state.logs]]);
  const { tasks, sessions, effects, intents, locks, blobs, events } = first.store;
  const claim = { id: 't', agent: 'ana', task: task('t'), from: 'pending' as const, recovered: false };
  const writes: [string, () => Promise<unknown>][] = [
    ['create', () => tasks.create(task('u'))],
    ['settle', () => tasks.settle(claim, { ...claim.task, result: 'late' }, 'completed')],
    ['park', () => tasks.park(claim, claim.task)],
    ['append', () => sessions.append('s', [user('late')], { durable: true })],
    ['begin', () => effects.begin('e', 'digest', 'a write')],
    ['submit', () => intents.submit({ kind: 'retry', id: 'i', task: 't', by: 'human', at: '' })],
    ['acquire', () => locks.acquire('printer', 't')],
    ['put', () => blobs.put('bytes')],
    ['scan', () => tasks.scan()],
    ['event', async () => events.append({ at: '', name: 'task.created', task: 'u' })],
  ];
  for (const [name, write] of writes) {
    const thrown = await write().then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.equal(asProblem(thrown).code, 'declared_dead', name);
    assert.ok(isStoreFault(thrown), `${name}: the driver starts again under a new name`);
  }
  assert.equal(JSON.stringify([[...state.entries], [...state.logs]]), before);
});

test('one renewal is under way at a time, so a slow ledger fences nobody', async () => {
  const state = ledgerState();
  const inner = memoryLedger(state);
  let release = (): void => undefined;
  let slow = Promise.resolve();
  const ledger: Ledger = { ...inner, commit: async (...args) => (await slow, inner.commit(...args)) };
  const { store, renew } = join(state, { ledger });
  await store.presence.join();
  slow = new Promise((resolve) => (release = resolve));
  for (let n = 0; n < 5; n++) renew();
  release();
  await store.flush();
  await store.tasks.scan();
  assert.equal(await store.tasks.create(task('t')), true);
});

test('a process that gave up its store takes its old work over at once', async () => {
  const { state, first } = await working();
  const again = join(state, { abandoned: new Set([first.store.presence.peer.id]) });
  await again.store.tasks.scan();
  assert.deepEqual(await again.store.tasks.orphans(), ['t']);
});

test('a process that this machine knows to have ended is not waited for', async () => {
  const { state, first } = await working();
  const gone = first.store.presence.peer.id;
  const next = join(state, { isGone: ({ id }) => id === gone });
  await next.store.presence.join();
  await next.store.tasks.scan();
  assert.deepEqual(await next.store.tasks.orphans(), ['t']);
});

test('max_concurrent_tasks is exact among processes that claim at once', async () => {
  const state = ledgerState();
  const desks = Array.from({ length: 5 }, () => join(state));
  for (let n = 0; n < 5; n++) await desks[0]!.store.tasks.create(task(`t${n}`));
  for (const { store } of desks) await store.tasks.scan();
  const claims = await Promise.all(desks.map(({ store }, n) => store.tasks.claim(`t${n}`, 'ana', { atMost: 2 })));
  assert.equal(claims.filter(Boolean).length, 2);
  const last = desks[4]!.store;
  await last.tasks.scan();
  assert.equal([...last.tasks.open()].filter(({ state: at }) => at === 'active').length, 2);
});

test('an effect that the database forgot is not started again on the machine that started it', async () => {
  const seen = new Map<string, { digest: string; at: string }>();
  const witness: FarOptions['witness'] = {
    started: (id) => seen.get(id),
    note: (id, start) => void seen.set(id, start),
  };
  const { store } = join(ledgerState(), { witness });
  assert.equal(await store.effects.begin('e', 'digest', 'a write'), true);
  const restored = ledgerState(); // a failover lost the last seconds
  const again = join(restored, { witness }).store;
  assert.equal((await again.effects.get('e')).state, 'started');
  assert.equal(await again.effects.begin('e', 'digest', 'a write'), false);
  const elsewhere = join(restored).store;
  assert.equal((await elsewhere.effects.get('e')).state, 'started', 'the database knows it again');
});
