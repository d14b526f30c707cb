/** How many commits a piece of work costs, and what they carry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { far, type FarStore } from '../../../src/adapters/far/index.js';
import { ledgerState, memoryLedger } from '../../../src/adapters/ledger/memory.js';
import type { Change, Ledger } from '../../../src/ports/ledger.js';
import { AT, header, task, user } from '../../contract/store/bench.js';
import { simClock, type SimClock } from '../../kit/sim-clock.js';
import { countedIds, simProcesses } from '../../kit/sim-processes.js';
import { turn } from '../../kit/until.js';

interface Counted {
  store: FarStore;
  sent: Change[];
  /** Names of the calls that only read. */
  reads: string[];
  clock: SimClock;
  /** Lets a quarter of a lease pass. */
  beat(): Promise<void>;
  atOnce(): number;
}

function counted(state = ledgerState(), ids = countedIds()): Counted {
  const inner = memoryLedger(state);
  const sent: Change[] = [];
  const reads: string[] = [];
  const clock = simClock();
  let [under, most] = [0, 0];
  let act: () => void = () => undefined;
  const ledger: Ledger = {
    ...inner,
    async commit(id, change, guard) {
      sent.push(change);
      most = Math.max(most, ++under);
      await new Promise(setImmediate);
      under--;
      return inner.commit(id, change, guard);
    },
    news: () => (reads.push('news'), inner.news()),
    get: (key) => (reads.push('get'), inner.get(key)),
    lines: (log, options) => (reads.push('lines'), inner.lines(log, options)),
  };
  const store = far({
    ...{ ledger, clock, ids, me: simProcesses().start().me() },
    ...{ lag: () => undefined, every: (_, given) => ((act = given), () => undefined) },
  });
  const beat = async (): Promise<void> => {
    await clock.advance(LEASE_MS / 4);
    act();
    for (let turns = 0; turns < 10; turns++) await turn();
  };
  return { store, sent, reads, clock, beat, atOnce: () => most };
}

const LEASE_MS = 15_000;

/** Two processes on one ledger. */
function twoProcesses(): [Counted, Counted] {
  const [state, ids] = [ledgerState(), countedIds()];
  return [counted(state, ids), counted(state, ids)];
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

test('a process reads neither the task that it holds nor the conversation that it starts', async () => {
  const { store, reads } = counted();
  await store.tasks.create(task('t'));
  const claim = (await store.tasks.claim('t', 'ana'))!;
  reads.splice(0);
  assert.equal((await store.tasks.read('t'))!.state, 'active');
  assert.deepEqual(await store.sessions.open('s', { isNew: true }), { kind: 'missing' });
  await store.sessions.create(header('s'), [user('hello')]);
  await store.tasks.settle(claim, { ...claim.task, result: 'r' }, 'completed');
  assert.deepEqual(reads, []);
});

test('a process does not look for children of a task that only it has held', async () => {
  const [{ store, reads }, other] = twoProcesses();
  await store.tasks.create(task('t'));
  const claim = (await store.tasks.claim('t', 'ana'))!;
  await store.tasks.create({ ...task('t.a'), parent: 't' });
  reads.splice(0);
  assert.equal(await store.tasks.readChild('t.b', claim), undefined);
  assert.equal((await store.tasks.readChild('t.a', claim))?.state, 'pending');
  assert.deepEqual(reads, []);
  await store.tasks.park(claim, claim.task);
  // Another process holds it for a while and makes a child that ends.
  await other.store.tasks.scan();
  const theirs = (await other.store.tasks.claim('t', 'ana'))!;
  await other.store.tasks.create({ ...task('t.b'), parent: 't' });
  const child = (await other.store.tasks.claim('t.b', 'ana'))!;
  await other.store.tasks.settle(child, { ...child.task, result: 'r' }, 'completed');
  await other.store.tasks.park(theirs, theirs.task);
  await store.tasks.scan();
  const again = (await store.tasks.claim('t', 'ana'))!;
  assert.equal((await store.tasks.readChild('t.b', again))?.state, 'completed');
});

test('a conversation that exists although it was expected to be new is not overwritten', async () => {
  const [other, { store }] = twoProcesses();
  await other.store.sessions.create(header('s'), [user('written by a person')]);
  assert.deepEqual(await store.sessions.open('s', { isNew: true }), { kind: 'missing' });
  assert.equal(await store.sessions.create(header('s'), [user('hello')]), undefined);
  const opened = await store.sessions.open('s');
  assert.ok(opened.kind === 'open' && opened.session.messages[0]!.content === 'written by a person');
});

test('requests of people are read again when the last answer is too old', async () => {
  const [other, { store, reads, clock }] = twoProcesses();
  await store.tasks.scan();
  await other.store.intents.submit({ kind: 'stop', id: 'i', task: 't', by: 'human', at: AT });
  reads.splice(0);
  assert.deepEqual(await store.intents.list({ maxAgeMs: 25 }), []);
  assert.deepEqual(reads, []);
  await clock.advance(25);
  assert.equal((await store.intents.list({ maxAgeMs: 25 })).length, 1);
  assert.deepEqual(reads, ['news']);
});

test('a process that gets notifications asks for requests again only after one', async () => {
  const [other, { store, reads, clock }] = twoProcesses();
  await store.presence.join();
  await store.tasks.scan();
  reads.splice(0);
  await clock.advance(500);
  assert.deepEqual(await store.intents.list({ maxAgeMs: 25 }), []);
  assert.deepEqual(reads, []);
  await other.store.intents.submit({ kind: 'stop', id: 'i', task: 't', by: 'human', at: AT });
  assert.equal((await store.intents.list({ maxAgeMs: 25 })).length, 1);
  assert.deepEqual(reads, ['news']);
});

test('only changes that somebody may have to act on wake the processes that take tasks', async () => {
  const [{ store, beat }, other] = twoProcesses();
  let rings = 0;
  await other.store.presence.onRing(() => rings++, { workOnly: true });
  const woken = async (change: () => Promise<unknown>): Promise<boolean> => {
    const before = rings;
    await change();
    await store.flush();
    return rings > before;
  };
  assert.equal(await woken(() => store.tasks.create(task('t'))), true);
  assert.equal(await woken(() => store.tasks.create(task('u'))), true);
  assert.equal(await woken(() => store.presence.join()), false);
  const claim = (await store.tasks.claim('t', 'ana'))!;
  assert.equal(await woken(() => store.tasks.claim('u', 'ana')), false);
  assert.equal(await woken(() => store.sessions.create(header('s'), [user('hello')])), false);
  assert.equal(await woken(() => store.effects.begin('e', 'digest', 'what')), false);
  assert.equal(await woken(async () => store.events.append({ at: AT, name: 'task.claimed', task: 't' })), false);
  assert.equal(await woken(beat), false);
  assert.equal(await woken(() => store.tasks.settle(claim, { ...claim.task, result: 'r' }, 'completed')), true);
  assert.equal(await woken(() => store.intents.submit({ kind: 'stop', id: 'i', task: 'u', by: 'h', at: AT })), true);
});

test('a process without work renews its lease, looks who is alive, and asks nothing else', async () => {
  const { store, sent, reads, beat } = counted();
  await store.presence.join();
  await store.tasks.scan();
  sent.splice(0);
  reads.splice(0);
  await beat();
  assert.deepEqual(reads, ['news']);
  assert.deepEqual(
    sent.map(({ puts, adds, topics }) => [puts.length, adds.length, topics]),
    [[1, 0, []]],
  );
});

test('a process without work finds a dead one and wakes itself', async () => {
  const [{ store, beat }, other] = twoProcesses();
  await other.store.presence.join();
  await other.store.tasks.create(task('t'));
  await other.store.tasks.claim('t', 'ana');
  let rings = 0;
  await store.presence.onRing(() => rings++, { workOnly: true });
  await store.presence.join();
  await store.tasks.scan();
  rings = 0;
  for (let beats = 0; beats < 6; beats++) await beat();
  assert.ok(rings > 0);
  assert.deepEqual(await store.tasks.orphans(), ['t']);
});
