/** What every store must keep, whatever it is made of. Run by `store.test.ts` on each adapter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, SessionHeader } from '../../src/domain/session/session.js';
import { makeTask, type Task } from '../../src/domain/task/task.js';
import type { Store } from '../../src/ports/store.js';

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
    assert.equal(await one.create(task('t')), true);
    assert.equal(await one.create(task('t')), false);
    assert.equal(await two.create(task('t')), false);
    const claim = (await one.claim('t', 'ana'))!;
    assert.equal(await two.create(task('t')), false, 'while active');
    await one.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.equal(await two.create(task('t')), false, 'when ended');
  });

  check('what was created is read back as it was', async (b) => {
    const store = b.join();
    const given = task('t', {
      requirements: ['x'],
      context: { original_goal: 'g', list: [1, { a: null }] },
      extra: { mine: true },
    });
    await store.create(given);
    assert.deepEqual((await store.read('t'))!.task, given);
    assert.equal((await store.read('t'))!.state, 'pending');
    assert.equal(await store.read('nothing'), undefined);
  });

  check('what several want is held by one task at a time, until that has ended', async (b) => {
    const [one, two] = [b.join(), b.join()];
    for (const id of ['a', 'b']) await one.create(task(id));
    await two.scan();
    assert.equal(await one.turnOf('resource-printer'), undefined);
    assert.equal(await one.keepTurn('resource-printer', 'a'), true);
    assert.equal(await two.keepTurn('resource-printer', 'b'), false);
    assert.equal(await two.keepTurn('resource-printer', 'a'), true, 'whoever asks for the same task');
    assert.equal(await two.keepTurn('resource-scanner', 'b'), true, 'another is free');
    assert.equal(await two.turnOf('resource-printer'), 'a');
    const claim = (await one.claim('a', 'ana'))!;
    await one.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    await two.scan(true);
    assert.equal(await two.turnOf('resource-printer'), undefined);
    assert.equal(await two.keepTurn('resource-printer', 'b'), true);
    assert.equal(await one.keepTurn('resource-printer', 'a'), false, 'one that has ended does not get it back');
  });

  check(
    'what is given back before its task ends is there for the next; nobody gives back what another has',
    async (b) => {
      const [one, two] = [b.join(), b.join()];
      for (const id of ['a', 'b']) await one.create(task(id));
      await two.scan();
      assert.equal(await one.keepTurn('resource-printer', 'a'), true);
      await two.giveTurn('resource-printer', 'b');
      assert.equal(await two.turnOf('resource-printer'), 'a');
      await one.giveTurn('resource-printer', 'a');
      await one.giveTurn('resource-printer', 'a');
      await one.giveTurn('resource-nothing', 'a');
      assert.equal(await two.turnOf('resource-printer'), undefined);
      assert.equal(await two.keepTurn('resource-printer', 'b'), true);
      await one.giveTurn('resource-printer', 'a');
      assert.equal(await one.turnOf('resource-printer'), 'b');
    },
  );

  check('who has a turn is known until it has ended, and how much of a root is open', async (b) => {
    const [one, two] = [b.join(), b.join()];
    for (const id of ['t', 'u']) await one.create(task(id));
    await one.create(task('t.1', { parent: 't', root: 't' }));
    await two.scan();
    assert.deepEqual([one.openUnderRoot('t'), two.openUnderRoot('t'), two.openUnderRoot('none')], [2, 2, 0]);
    assert.equal(await two.turnOf('talk'), undefined);
    assert.equal(await one.takeTurn('talk', 't'), true);
    assert.equal(await two.takeTurn('talk', 'u'), false);
    assert.deepEqual([await one.turnOf('talk'), await two.turnOf('talk')], ['t', 't']);
    const claim = (await one.claim('t', 'ana'))!;
    assert.equal(one.openUnderRoot('t'), 2, 'held is open');
    await one.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.equal(one.openUnderRoot('t'), 1);
    await two.scan();
    assert.equal(await two.turnOf('talk'), undefined);
    assert.equal(await two.takeTurn('talk', 'u'), true);
    assert.equal(await one.turnOf('talk'), 'u');
  });

  check('a claim has one winner', async (b) => {
    const stores = [b.join(), b.join(), b.join()];
    await stores[0]!.create(task('t'));
    for (const store of stores) await store.scan();
    const claims = await Promise.all(stores.map((store) => store.claim('t', 'ana')));
    const won = claims.filter(Boolean);
    assert.equal(won.length, 1);
    for (const store of stores) assert.equal(await store.claim('t', 'ana'), undefined);
  });

  check('a peer sees what another did after a scan', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await one.create(task('t'));
    await two.scan();
    assert.equal(two.isOpen('t'), true);
    const claim = (await one.claim('t', 'ana'))!;
    await two.scan();
    assert.deepEqual(
      [...two.open()].map(({ state, held }) => [state, held]),
      [['active', true]],
    );
    await one.settle(claim, { ...claim.task, result: 'r' }, 'completed');
    await two.scan();
    assert.equal(two.isOpen('t'), false);
    assert.equal((await two.read('t'))!.task.result, 'r');
  });

  check('parked and released tasks can be claimed again, by anybody, with what was saved', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await one.create(task('t'));
    const first = (await one.claim('t', 'ana'))!;
    assert.equal(await one.park(first, { ...first.task, waits: { tasks: ['x'] } }), true);
    await two.scan();
    assert.deepEqual(
      [...two.open()].map(({ state }) => state),
      ['waiting'],
    );
    const second = (await two.claim('t', 'ana'))!;
    assert.deepEqual(second.task.waits, { tasks: ['x'] });
    assert.equal(second.from, 'waiting');
    assert.equal(await two.release(second, { ...second.task, attempts: 3 }), true);
    await one.scan();
    assert.equal((await one.claim('t', 'ana'))!.task.attempts, 3);
  });

  check('only the holder can settle, park or release, and only once', async (b) => {
    const store = b.join();
    await store.create(task('t'));
    const claim = (await store.claim('t', 'ana'))!;
    assert.equal(await store.settle(claim, { ...claim.task, result: 'first' }, 'completed'), true);
    assert.equal(await store.settle(claim, { ...claim.task, result: 'second' }, 'completed'), false);
    assert.equal(await store.settle(claim, { ...claim.task }, 'failed'), false);
    assert.equal(await store.park(claim, claim.task), false);
    assert.equal(await store.release(claim, claim.task), false);
    assert.equal((await store.read('t'))!.task.result, 'first');
    assert.equal((await store.read('t'))!.state, 'completed');
    assert.equal(store.openCount(), 0);
  });

  check('a living peer is not robbed; a dead one leaves an orphan that one other takes over', async (b) => {
    const [one, two, three] = [b.join(), b.join(), b.join()];
    await one.create(task('t'));
    await one.claim('t', 'ana');
    await two.scan();
    assert.deepEqual(await two.orphans(), []);
    assert.equal(await two.takeOver('t'), undefined);
    b.kill(one);
    await two.scan(true);
    await three.scan(true);
    assert.deepEqual(await two.orphans(), ['t']);
    const takers = [await two.takeOver('t'), await three.takeOver('t')].filter(Boolean);
    assert.equal(takers.length, 1);
    assert.equal(takers[0]!.recovered, true);
  });

  check('a peer that closes leaves its claims to the others', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await one.create(task('t'));
    await one.claim('t', 'ana');
    await one.close();
    await two.scan(true);
    assert.deepEqual(await two.orphans(), ['t']);
  });

  check('an ended task can be opened again', async (b) => {
    const store = b.join();
    await store.create(task('t'));
    assert.equal(await store.reopen('t', task('t')), false, 'not while open');
    const claim = (await store.claim('t', 'ana'))!;
    await store.settle(claim, { ...claim.task, error: { code: 'cancelled', message: 'no' } }, 'failed');
    assert.deepEqual(
      (await store.ended({ state: 'failed' })).map(({ task: { id } }) => id),
      ['t'],
    );
    assert.equal(await store.reopen('t', task('t')), true);
    assert.equal((await store.read('t'))!.state, 'pending');
    assert.equal((await store.read('t'))!.task.error, undefined);
    assert.ok(await store.claim('t', 'ana'));
  });

  check('a conversation is created once and grows at its end', async (b) => {
    const store = b.join();
    assert.deepEqual(await store.openSession('s'), { kind: 'missing' });
    assert.equal((await store.createSession(header('s'), [user('hello')]))?.messages.length, 1);
    assert.equal(await store.createSession(header('s'), [user('other')]), undefined);
    assert.equal(
      await store.append('s', [{ role: 'assistant', content: 'two\nlines ', timestamp: AT }], { durable: true }),
      'written',
    );
    const other = await b.join().openSession('s');
    assert.ok(other.kind === 'open');
    assert.deepEqual(
      other.session.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'hello'],
        ['assistant', 'two\nlines '],
      ],
    );
  });

  check("a person's edit is noticed before the next write, and never overwritten", async (b) => {
    const store = b.join();
    await store.createSession(header('s'), [user('hello')]);
    b.edit('s', (messages) => [...messages, user('and one more thing')]);
    assert.equal(await store.append('s', [user('from the engine')], { durable: true }), 'edited');
    const opened = await store.openSession('s');
    assert.ok(opened.kind === 'open');
    assert.deepEqual([opened.edited!.added, opened.edited!.changed, opened.edited!.removed], [1, 0, 0]);
    assert.equal(await store.append('s', [user('from the engine')], { durable: true }), 'written');
    const again = await store.openSession('s');
    assert.ok(again.kind === 'open');
    assert.deepEqual(
      again.session.messages.map(({ content }) => content),
      ['hello', 'and one more thing', 'from the engine'],
    );
    assert.equal(again.edited, undefined);
  });

  check('an effect is begun once, and its outcome is known to all', async (b) => {
    const [one, two] = [b.join(), b.join()];
    assert.deepEqual(await one.effect('e'), { state: 'none' });
    assert.equal(await one.begin('e', 'digest', 'a write'), true);
    assert.equal(await one.begin('e', 'digest', 'a write'), false);
    assert.equal(await two.begin('e', 'digest', 'a write'), false);
    assert.equal((await two.effect('e')).state, 'started');
    await one.finish('e', { ok: true, text: 'written' });
    assert.deepEqual(await two.effect('e'), {
      state: 'done',
      digest: 'digest',
      outcome: { ok: true, text: 'written' },
    });
  });

  check('a blob is kept by its hash', async (b) => {
    const store = b.join();
    const hash = await store.putBlob('some bytes');
    assert.equal(await store.putBlob('some bytes'), hash);
    assert.equal((await store.getBlob(hash))!.toString(), 'some bytes');
    assert.equal(await store.getBlob('0'.repeat(64)), undefined);
    assert.equal(await store.getBlob('../../etc/passwd'), undefined);
  });

  check('intents stay, in order, until they are done', async (b) => {
    const [one, two] = [b.join(), b.join()];
    await one.submit({ kind: 'cancel', id: 'a1', task: 't', by: 'human', at: '2026-01-01T00:00:00.001Z' });
    await one.submit({ kind: 'retry', id: 'a2', task: 't', by: 'human', at: '2026-01-01T00:00:00.002Z' });
    assert.deepEqual(
      (await two.intents()).map(({ id }) => id),
      ['a1', 'a2'],
    );
    await two.doneIntent('a1');
    assert.deepEqual(
      (await one.intents()).map(({ id }) => id),
      ['a2'],
    );
  });

  check('history keeps its order and can be asked for one task', async (b) => {
    const store = b.join();
    store.record({ at: AT, name: 'task.created', task: 'a' });
    store.record({ at: AT, name: 'task.created', task: 'b' });
    store.record({ at: AT, name: 'task.claimed', task: 'a' });
    await store.flush();
    assert.deepEqual(
      (await store.events()).map(({ name, task: id }) => `${name} ${id}`),
      ['task.created a', 'task.created b', 'task.claimed a'],
    );
    assert.deepEqual(
      (await store.events({ task: 'a' })).map(({ name }) => name),
      ['task.created', 'task.claimed'],
    );
    assert.deepEqual(
      (await store.events({ limit: 1 })).map(({ name }) => name),
      ['task.claimed'],
    );
  });
}
