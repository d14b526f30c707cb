/** What every store must keep, whatever it is made of. Run by `store.test.ts` on each adapter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, SessionHeader } from '../../src/domain/session/session.js';
import { makeTask, type Task } from '../../src/domain/task/task.js';
import type { Store } from '../../src/ports/store/index.js';

export interface Bench {
  /** A peer of one world; all peers of a bench share it. */
  join(): Store;
  /** Its process ends without a word. */
  kill(store: Store): void;
  /** A person changes the conversation outside of any store. */
  edit(session: string, change: (messages: Message[]) => Message[]): void;
}

const AT = '2026-01-01T00:00:00.000Z';
const task = (id: string, more: Partial<Task> = {}): Task =>
  makeTask({ id, description: `do ${id}`, created_at: AT, to: 'ana', ...more });
const header = (id: string): SessionHeader => ({ sessionId: id, agentId: 'ana', created: AT, status: 'active' });
const user = (content: string): Message => ({ role: 'user', content, timestamp: AT });

export function storeContract(name: string, bench: () => Bench | Promise<Bench>): void {
  const check = (promise: string, body: (b: Bench) => Promise<void>): void => {
    test(`${name}: ${promise}`, async () => body(await bench()));
  };

  check('a task is created once, whatever its state', async (b) => {
    const [one, two] = [b.join(), b.join()];
    assert.equal(await one.tasks.create(task('t')), true);
    assert.equal(await one.tasks.create(task('t')), false);
    assert.equal(await two.tasks.create(task('t')), false);
    const claim = (await one.tasks.claim('t', 'ana'))!;
    assert.equal(await two.tasks.create(task('t')), false, 'while active');
    await one.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.equal(await two.tasks.create(task('t')), false, 'when ended');
  });

  check('what was created is read back as it was', async (b) => {
    const store = b.join();
    const given = task('t', {
      requirements: ['x'],
      context: { original_goal: 'g', list: [1, { a: null }] },
      extra: { mine: true },
    });
    await store.tasks.create(given);
    assert.deepEqual((await store.tasks.read('t'))!.task, given);
    assert.equal((await store.tasks.read('t'))!.state, 'pending');
    assert.equal(await store.tasks.read('nothing'), undefined);
  });

  check('what several want is held by one task at a time, until that has ended', async (b) => {
    const [one, two] = [b.join(), b.join()];
    for (const id of ['a', 'b']) await one.tasks.create(task(id));
    await two.tasks.scan();
    assert.equal(await one.locks.holder('resource-printer'), undefined);
    assert.equal(await one.locks.acquire('resource-printer', 'a', { durable: true }), true);
    assert.equal(await two.locks.acquire('resource-printer', 'b', { durable: true }), false);
    assert.equal(
      await two.locks.acquire('resource-printer', 'a', { durable: true }),
      true,
      'whoever asks for the same task',
    );
    assert.equal(await two.locks.acquire('resource-scanner', 'b', { durable: true }), true, 'another is free');
    assert.equal(await two.locks.holder('resource-printer'), 'a');
    const claim = (await one.tasks.claim('a', 'ana'))!;
    await one.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    await two.tasks.scan(true);
    assert.equal(await two.locks.holder('resource-printer'), undefined);
    assert.equal(await two.locks.acquire('resource-printer', 'b', { durable: true }), true);
    assert.equal(
      await one.locks.acquire('resource-printer', 'a', { durable: true }),
      false,
      'one that has ended does not get it back',
    );
  });

  check(
    'what is given back before its task ends is there for the next; nobody gives back what another has',
    async (b) => {
      const [one, two] = [b.join(), b.join()];
      for (const id of ['a', 'b']) await one.tasks.create(task(id));
      await two.tasks.scan();
      assert.equal(await one.locks.acquire('resource-printer', 'a', { durable: true }), true);
      await two.locks.release('resource-printer', 'b');
      assert.equal(await two.locks.holder('resource-printer'), 'a');
      await one.locks.release('resource-printer', 'a');
      await one.locks.release('resource-printer', 'a');
      await one.locks.release('resource-nothing', 'a');
      assert.equal(await two.locks.holder('resource-printer'), undefined);
      assert.equal(await two.locks.acquire('resource-printer', 'b', { durable: true }), true);
      await one.locks.release('resource-printer', 'a');
      assert.equal(await one.locks.holder('resource-printer'), 'b');
    },
  );

  check('who has a turn is known until it has ended, and how much of a root is open', async (b) => {
    const [one, two] = [b.join(), b.join()];
    for (const id of ['t', 'u']) await one.tasks.create(task(id));
    await one.tasks.create(task('t.1', { parent: 't', root: 't' }));
    await two.tasks.scan();
    assert.deepEqual(
      [one.tasks.openUnderRoot('t'), two.tasks.openUnderRoot('t'), two.tasks.openUnderRoot('none')],
      [2, 2, 0],
    );
    assert.equal(await two.locks.holder('talk'), undefined);
    assert.equal(await one.locks.acquire('talk', 't'), true);
    assert.equal(await two.locks.acquire('talk', 'u'), false);
    assert.deepEqual([await one.locks.holder('talk'), await two.locks.holder('talk')], ['t', 't']);
    const claim = (await one.tasks.claim('t', 'ana'))!;
    assert.equal(one.tasks.openUnderRoot('t'), 2, 'held is open');
    await one.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.equal(one.tasks.openUnderRoot('t'), 1);
    await two.tasks.scan();
    assert.equal(await two.locks.holder('talk'), undefined);
    assert.equal(await two.locks.acquire('talk', 'u'), true);
    assert.equal(await one.locks.holder('talk'), 'u');
  });

  check('a claim has one winner', async (b) => {
    const stores = [b.join(), b.join(), b.join()];
    await stores[0]!.tasks.create(task('t'));
    for (const store of stores) await store.tasks.scan();
    const claims = await Promise.all(stores.map((store) => store.tasks.claim('t', 'ana')));
    const won = claims.filter(Boolean);
    assert.equal(won.length, 1);
    for (const store of stores) assert.equal(await store.tasks.claim('t', 'ana'), undefined);
  });

  check('the claims for an agent are known to all peers, in order and without bids', async (b) => {
    const [one, two] = [b.join(), b.join()];
    for (const id of ['a', 'b']) await one.tasks.create(task(id));
    await one.tasks.create(task('a.bid', { role: 'bid', parent: 'a', root: 'a' }));
    await two.tasks.scan();
    assert.ok(await one.tasks.claim('a', 'ana'));
    assert.ok(await one.tasks.claim('a.bid', 'ana'));
    assert.ok(await two.tasks.claim('b', 'ana'));
    for (const store of [one, two]) {
      const holds = (await store.tasks.claimsFor('ana')).sort((x, y) => (x.task < y.task ? -1 : 1));
      assert.deepEqual(
        holds.map(({ task: id, peer }) => [id, peer]),
        [
          ['a', one.presence.peer.id],
          ['b', two.presence.peer.id],
        ],
      );
      assert.ok(holds[0]!.since <= holds[1]!.since);
      assert.deepEqual(await store.tasks.claimsFor('ben'), []);
    }
  });

  check('every change of the open tasks has a number, and the tasks that changed since are named', async (b) => {
    const store = b.join();
    await store.tasks.create(task('t'));
    await store.tasks.create(task('u'));
    const before = store.tasks.version();
    assert.deepEqual(store.tasks.changedSince(before), []);
    const claim = (await store.tasks.claim('t', 'ana'))!;
    assert.notEqual(store.tasks.version(), before);
    await store.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.deepEqual([...new Set(store.tasks.changedSince(before))], ['t']);
  });

  check('a child is read under the claim of its parent, whatever its state', async (b) => {
    const store = b.join();
    await store.tasks.create(task('t'));
    const claim = (await store.tasks.claim('t', 'ana'))!;
    assert.equal(await store.tasks.readChild('t.1', claim), undefined);
    await store.tasks.create(task('t.1', { parent: 't', root: 't' }));
    assert.equal((await store.tasks.readChild('t.1', claim))?.state, 'pending');
    const child = (await store.tasks.claim('t.1', 'ana'))!;
    await store.tasks.settle(child, { ...child.task, result: 'done' }, 'completed');
    assert.equal((await store.tasks.readChild('t.1', claim))?.task.result, 'done');
  });

  check('a peer that joins several times at once is known once, until it leaves', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await two.presence.join();
    const before = two.presence.version();
    await Promise.all([one.presence.join(), one.presence.join(), one.presence.join()]);
    await two.tasks.scan();
    const ids = (await two.presence.peers()).map(({ id }) => id);
    assert.deepEqual(ids.sort(), [one.presence.peer.id, two.presence.peer.id].sort());
    assert.notEqual(two.presence.version(), before);
    assert.ok(one.presence.rank().rank < one.presence.rank().of);
    await one.close();
    await two.tasks.scan();
    assert.deepEqual(
      (await two.presence.peers()).map(({ id }) => id),
      [two.presence.peer.id],
    );
    assert.equal(two.presence.version(), before);
  });

  check('a peer sees what another did after a scan', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await one.tasks.create(task('t'));
    await two.tasks.scan();
    assert.equal(two.tasks.isOpen('t'), true);
    const claim = (await one.tasks.claim('t', 'ana'))!;
    await two.tasks.scan();
    assert.deepEqual(
      [...two.tasks.open()].map(({ state, held }) => [state, held]),
      [['active', true]],
    );
    await one.tasks.settle(claim, { ...claim.task, result: 'r' }, 'completed');
    await two.tasks.scan();
    assert.equal(two.tasks.isOpen('t'), false);
    assert.equal((await two.tasks.read('t'))!.task.result, 'r');
  });

  check('parked and released tasks can be claimed again, by anybody, with what was saved', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await one.tasks.create(task('t'));
    const first = (await one.tasks.claim('t', 'ana'))!;
    assert.equal(await one.tasks.park(first, { ...first.task, waits: { tasks: ['x'] } }), true);
    await two.tasks.scan();
    assert.deepEqual(
      [...two.tasks.open()].map(({ state }) => state),
      ['waiting'],
    );
    const second = (await two.tasks.claim('t', 'ana'))!;
    assert.deepEqual(second.task.waits, { tasks: ['x'] });
    assert.equal(second.from, 'waiting');
    assert.equal(await two.tasks.release(second, { ...second.task, attempts: 3 }), true);
    await one.tasks.scan();
    assert.equal((await one.tasks.claim('t', 'ana'))!.task.attempts, 3);
  });

  check('only the holder can settle, park or release, and only once', async (b) => {
    const store = b.join();
    await store.tasks.create(task('t'));
    const claim = (await store.tasks.claim('t', 'ana'))!;
    assert.equal(await store.tasks.settle(claim, { ...claim.task, result: 'first' }, 'completed'), true);
    assert.equal(await store.tasks.settle(claim, { ...claim.task, result: 'second' }, 'completed'), false);
    assert.equal(await store.tasks.settle(claim, { ...claim.task }, 'failed'), false);
    assert.equal(await store.tasks.park(claim, claim.task), false);
    assert.equal(await store.tasks.release(claim, claim.task), false);
    assert.equal((await store.tasks.read('t'))!.task.result, 'first');
    assert.equal((await store.tasks.read('t'))!.state, 'completed');
    assert.equal(store.tasks.openCount(), 0);
  });

  check('a living peer is not robbed; a dead one leaves an orphan that one other takes over', async (b) => {
    const [one, two, three] = [b.join(), b.join(), b.join()];
    await one.tasks.create(task('t'));
    await one.tasks.claim('t', 'ana');
    await two.tasks.scan();
    assert.deepEqual(await two.tasks.orphans(), []);
    assert.equal(await two.tasks.takeOver('t'), undefined);
    b.kill(one);
    await two.tasks.scan(true);
    await three.tasks.scan(true);
    assert.deepEqual(await two.tasks.orphans(), ['t']);
    const takers = [await two.tasks.takeOver('t'), await three.tasks.takeOver('t')].filter(Boolean);
    assert.equal(takers.length, 1);
    assert.equal(takers[0]!.recovered, true);
  });

  check('a peer that closes leaves its claims to the others', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await one.tasks.create(task('t'));
    await one.tasks.claim('t', 'ana');
    await one.close();
    await two.tasks.scan(true);
    assert.deepEqual(await two.tasks.orphans(), ['t']);
  });

  check('an ended task can be opened again', async (b) => {
    const store = b.join();
    await store.tasks.create(task('t'));
    assert.equal(await store.tasks.reopen('t', task('t')), false, 'not while open');
    const claim = (await store.tasks.claim('t', 'ana'))!;
    await store.tasks.settle(claim, { ...claim.task, error: { code: 'cancelled', message: 'no' } }, 'failed');
    assert.deepEqual(
      (await store.tasks.ended({ state: 'failed' })).map(({ task: { id } }) => id),
      ['t'],
    );
    assert.equal(await store.tasks.reopen('t', task('t')), true);
    assert.equal((await store.tasks.read('t'))!.state, 'pending');
    assert.equal((await store.tasks.read('t'))!.task.error, undefined);
    assert.ok(await store.tasks.claim('t', 'ana'));
  });

  check('a conversation is created once and grows at its end', async (b) => {
    const store = b.join();
    assert.deepEqual(await store.sessions.open('s'), { kind: 'missing' });
    assert.equal((await store.sessions.create(header('s'), [user('hello')]))?.messages.length, 1);
    assert.equal(await store.sessions.create(header('s'), [user('other')]), undefined);
    assert.equal(
      await store.sessions.append('s', [{ role: 'assistant', content: 'two\nlines ', timestamp: AT }], {
        durable: true,
      }),
      'written',
    );
    const other = await b.join().sessions.open('s');
    assert.ok(other.kind === 'open');
    assert.deepEqual(
      other.session.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'hello'],
        ['assistant', 'two\nlines '],
      ],
    );
  });

  check('the stamp of a conversation differs whenever the conversation has changed', async (b) => {
    const store = b.join();
    assert.equal(await store.sessions.stamp('s'), undefined);
    await store.sessions.create(header('s'), [user('hello')]);
    const first = await store.sessions.stamp('s');
    assert.equal(await store.sessions.stamp('s'), first);
    assert.deepEqual(await store.sessions.list(), ['s']);
    await store.sessions.append('s', [user('more')], { durable: true });
    const second = await store.sessions.stamp('s');
    b.edit('s', (messages) => [...messages, user('and one more thing')]);
    assert.equal(new Set([first, second, await store.sessions.stamp('s'), undefined]).size, 4);
  });

  check("a person's edit is noticed before the next write, and never overwritten", async (b) => {
    const store = b.join();
    await store.sessions.create(header('s'), [user('hello')]);
    b.edit('s', (messages) => [...messages, user('and one more thing')]);
    assert.equal(await store.sessions.append('s', [user('from the engine')], { durable: true }), 'edited');
    const opened = await store.sessions.open('s');
    assert.ok(opened.kind === 'open');
    assert.deepEqual([opened.edited!.added, opened.edited!.changed, opened.edited!.removed], [1, 0, 0]);
    assert.equal(await store.sessions.append('s', [user('from the engine')], { durable: true }), 'written');
    const again = await store.sessions.open('s');
    assert.ok(again.kind === 'open');
    assert.deepEqual(
      again.session.messages.map(({ content }) => content),
      ['hello', 'and one more thing', 'from the engine'],
    );
    assert.equal(again.edited, undefined);
  });

  check('an effect is begun once, and its outcome is known to all', async (b) => {
    const [one, two] = [b.join(), b.join()];
    assert.deepEqual(await one.effects.get('e'), { state: 'none' });
    assert.equal(await one.effects.begin('e', 'digest', 'a write'), true);
    assert.equal(await one.effects.begin('e', 'digest', 'a write'), false);
    assert.equal(await two.effects.begin('e', 'digest', 'a write'), false);
    assert.equal((await two.effects.get('e')).state, 'started');
    await one.effects.finish('e', { ok: true, text: 'written' });
    assert.deepEqual(await two.effects.get('e'), {
      state: 'done',
      digest: 'digest',
      outcome: { ok: true, text: 'written' },
    });
  });

  check('a blob is kept by its hash', async (b) => {
    const store = b.join();
    const hash = await store.blobs.put('some bytes');
    assert.equal(await store.blobs.put('some bytes'), hash);
    assert.equal((await store.blobs.get(hash))!.toString(), 'some bytes');
    assert.equal(await store.blobs.get('0'.repeat(64)), undefined);
    assert.equal(await store.blobs.get('../../etc/passwd'), undefined);
  });

  check('intents stay, in order, until they are done', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await one.intents.submit({ kind: 'cancel', id: 'a1', task: 't', by: 'human', at: '2026-01-01T00:00:00.001Z' });
    await one.intents.submit({ kind: 'retry', id: 'a2', task: 't', by: 'human', at: '2026-01-01T00:00:00.002Z' });
    assert.deepEqual(
      (await two.intents.list()).map(({ id }) => id),
      ['a1', 'a2'],
    );
    await two.intents.done('a1');
    assert.deepEqual(
      (await one.intents.list()).map(({ id }) => id),
      ['a2'],
    );
  });

  check('history keeps its order and can be asked for one task', async (b) => {
    const store = b.join();
    store.events.append({ at: AT, name: 'task.created', task: 'a' });
    store.events.append({ at: AT, name: 'task.created', task: 'b' });
    store.events.append({ at: AT, name: 'task.claimed', task: 'a' });
    await store.flush();
    assert.deepEqual(
      (await store.events.list()).map(({ name, task: id }) => `${name} ${id}`),
      ['task.created a', 'task.created b', 'task.claimed a'],
    );
    assert.deepEqual(
      (await store.events.list({ task: 'a' })).map(({ name }) => name),
      ['task.created', 'task.claimed'],
    );
    assert.deepEqual(
      (await store.events.list({ limit: 1 })).map(({ name }) => name),
      ['task.claimed'],
    );
  });
}
